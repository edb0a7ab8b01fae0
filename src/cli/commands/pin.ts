import { commandWords } from '../../config/command-words.ts';
import { detectionMessage, detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
import { isUsable, readSample } from '../../diagnostics/detection/samples.ts';
import { checkPin, pinScheme } from '../../diagnostics/pin/pin-scheme.ts';
import { printableText } from '../../internal/printable-text.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { defineCommand } from '../command.ts';
import { allCredentials, type Configuration, readConfiguration } from '../configuration.ts';
import { type CliContext, CliError, type ExitCode, exitCodes } from '../context.ts';
import { type NamedDelivery, readDeliveries } from '../deliveries.ts';
import { describeScheme } from '../describe-detection.ts';
import { type FlagsOf, formatFlags, samples, signingFlags, text } from '../flags.ts';
import { inFile, inputName, readInput, readJsonObject, shownPath } from '../input.ts';
import { openOutput } from '../output.ts';

const flags = {
  check: text.optional('pin', 'Check this pin instead of making one'),
  ...signingFlags,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

export default defineCommand({
  brief: 'Pin how the service signs, or check a pin',
  about:
    'Prints a pin: the scheme, and the samples that prove it. The scheme is that of --scheme or of the environment. Without either it is detected from the samples. The pin keeps the bodies as they are: check what they hold before you commit it. With --check it checks a pin, and further samples.',
  examples: [
    'partner-exchange pin event.json > signature-pin.json',
    'partner-exchange pin --check signature-pin.json',
    'partner-exchange pin --check signature-pin.json ./events',
  ],
  flags,
  args: samples,
  async run(context, flags, ...paths) {
    const configuration = await readConfiguration(context, flags);
    return flags.check === undefined
      ? make(context, flags, { configuration, paths })
      : check(context, flags, { configuration, paths, path: flags.check });
  },
});

interface Request {
  readonly configuration: Configuration;
  readonly paths: readonly string[];
}

async function make(context: CliContext, flags: Flags, { configuration, paths }: Request): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const credentials = allCredentials(configuration);
  const deliveries = await readDeliveries(context, paths);
  const samples = deliveries.map(({ body }) => body);
  const { PARTNER_EXCHANGE_SCHEME, PARTNER_EXCHANGE_SCHEME_FILE } = context.env;
  const isGiven = Boolean(flags.scheme ?? (PARTNER_EXCHANGE_SCHEME || PARTNER_EXCHANGE_SCHEME_FILE));
  for (const delivery of deliveries) checkUsable(delivery, isGiven);
  const scheme = isGiven ? configuration.deployment.signature : findScheme(samples, configuration);
  const made = pinScheme({ scheme, samples, credentials });
  // A pin is JSON in either format: it is made to be kept in a file.
  context.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
  output.status(
    `Pinned ${describeScheme(made.scheme)}: keep it in a file, and name that as PARTNER_EXCHANGE_SCHEME_FILE.`,
  );
  return exitCodes.ok;
}

function checkUsable({ source, body }: NamedDelivery, isSchemeGiven: boolean): void {
  const sample = readSample(body);
  // Only a search is limited by the size.
  if (isUsable(sample) || (sample.status === 'too-large' && isSchemeGiven)) return;
  throw new CliError(`${shownPath(source)} cannot be pinned: ${sample.message}`);
}

function findScheme(
  samples: readonly Uint8Array[],
  { credentials: [current] }: Configuration,
): SignatureScheme {
  const detection = detectScheme(samples, current ?? {});
  const { verdict, survivors, nearMisses } = detection;
  const [only] = survivors;
  if (verdict === 'found' && only !== undefined) return only.scheme;
  const isForged = nearMisses.some(({ code }) => code === 'forged');
  const otherwise = isForged ? '' : ' Or say which scheme it is with --scheme.';
  throw new CliError(detectionMessage(detection, commandWords) + otherwise, { exitCode: exitCodes.findings });
}

async function check(
  context: CliContext,
  flags: Flags,
  { configuration, paths, path }: Request & { readonly path: string },
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const pinned = readJsonObject(await readInput(context, path), inputName(path));
  const samples = paths.length === 0 ? [] : (await readDeliveries(context, paths)).map(({ body }) => body);
  const credentials = allCredentials(configuration);
  const checked = inFile(path, () => checkPin(pinned, { credentials, samples }));
  output.result(checked, (paint) => [
    `${paint('green', 'holds')} ${printableText(path)}: ${checked.fixtures} pinned and ${checked.samples} further samples verify.`,
  ]);
  return exitCodes.ok;
}
