import { detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
import { checkPin, pinScheme } from '../../diagnostics/pin/pin-scheme.ts';
import { printableText } from '../../redaction/printable-text.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { type ExitCode, exitCodes } from '../context/exit-code.ts';
import { readDeliveries } from '../deliveries/read-deliveries.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { readJsonObject } from '../input/read-json.ts';
import { allCredentials, type Configuration, readConfiguration } from '../input/read-keys.ts';
import { describeScheme } from '../output/describe-detection.ts';
import { inCommands } from '../output/in-commands.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface PinFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly check?: string | undefined;
}

/** Makes a pin, or checks one. */
export const pin: RunCommand<PinFlags, string[]> = async (context, flags, ...paths) => {
  const configuration = await readConfiguration(context, flags);
  return flags.check === undefined
    ? make(context, flags, { configuration, paths })
    : check(context, flags, { configuration, paths, path: flags.check });
};

interface Request {
  readonly configuration: Configuration;
  readonly paths: readonly string[];
}

async function make(
  context: CliContext,
  flags: PinFlags,
  { configuration, paths }: Request,
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const credentials = allCredentials(configuration);
  const samples = (await readDeliveries(context, paths)).map(({ body }) => body);
  const { PARTNER_EXCHANGE_SCHEME, PARTNER_EXCHANGE_SCHEME_FILE } = context.env;
  const isGiven = flags.scheme ?? (PARTNER_EXCHANGE_SCHEME || PARTNER_EXCHANGE_SCHEME_FILE);
  const scheme = isGiven ? configuration.deployment.signature : findScheme(samples, configuration);
  const made = pinScheme({ scheme, samples, credentials });
  // A pin is JSON in either format: it is made to be kept in a file.
  output.raw(`${JSON.stringify(made, null, 2)}\n`);
  output.say(
    `Pinned ${describeScheme(made.scheme)}: keep it in a file, and name that as PARTNER_EXCHANGE_SCHEME_FILE.`,
  );
  return exitCodes.ok;
}

function findScheme(
  samples: readonly Uint8Array[],
  { credentials: [current] }: Configuration,
): SignatureScheme {
  const { verdict, message, survivors } = detectScheme(samples, current ?? {});
  const [only] = survivors;
  if (verdict === 'found' && only !== undefined) return only.scheme;
  throw new CliError(`${inCommands(message)} Or say which scheme it is with --scheme.`, {
    exitCode: exitCodes.findings,
  });
}

async function check(
  context: CliContext,
  flags: PinFlags,
  { configuration, paths, path }: Request & { readonly path: string },
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const pinned = readJsonObject(await readInput(context, path), inputName(path));
  const samples = paths.length === 0 ? [] : (await readDeliveries(context, paths)).map(({ body }) => body);
  const checked = checkPin(pinned, { credentials: allCredentials(configuration), samples });
  output.result(checked, (paint) => [
    `${paint('green', 'holds')} ${printableText(path)}: ${checked.fixtures} pinned and ${checked.samples} further samples verify.`,
  ]);
  return exitCodes.ok;
}
