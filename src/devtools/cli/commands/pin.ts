import { setImmediate } from 'node:timers/promises';
import { createKeyRing } from '../../../credentials/create-key-ring.ts';
import type { KeyRing } from '../../../credentials/key-ring.ts';
import { printableText } from '../../../internal/printable-text.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
import {
  judgeRefused,
  judgeSample,
  type SampleVerdict,
  type StraySample,
} from '../../diagnostics/pin/judge-sample.ts';
import { checkPin, pinScheme } from '../../diagnostics/pin/pin-scheme.ts';
import { type NamedDelivery, readDeliveries } from '../deliveries/saved-deliveries.ts';
import { allCredentials, type Configuration, readConfiguration } from '../inputs/configuration.ts';
import { inFile, inputName, readInput, readJsonObject, shownPath } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, type ExitCode, exitCodes } from '../terminal/context.ts';
import { type FlagsOf, formatFlags, samples, signingFlags, textFlag } from '../terminal/flags.ts';
import { type Output, openOutput } from '../terminal/output.ts';

const flags = {
  check: textFlag.optional('pin', 'Check this pin instead of making one'),
  ...signingFlags,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

export default defineCommand({
  brief: 'Pin how the service signs, or check a pin',
  about:
    'Prints a pin: the scheme, and the samples that prove it. The scheme is that of --scheme or of the environment. Without either it is detected from the samples. Files that none of your keys signed are listed and left out. The pin keeps the bodies as they are: check what they hold before you commit it. With --check it checks a pin, and further files, of which the same are left out.',
  examples: [
    'partner-exchange pin event.json > signature-pin.json',
    'partner-exchange pin --check signature-pin.json',
    'partner-exchange pin --check signature-pin.json ./events',
  ],
  json: 'The pin itself, in either format; with --check { scheme, fixtures, samples }',
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

/** A stranger posts a few forgeries; more of them are likelier signed with keys that are missing here. */
const maxSearched = 20;

async function make(context: CliContext, flags: Flags, { configuration, paths }: Request): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const credentials = allCredentials(configuration);
  const keys = createKeyRing({ load: () => credentials });
  await keys.reload();
  const deliveries = await readDeliveries(context, paths);
  const { PARTNER_EXCHANGE_SCHEME, PARTNER_EXCHANGE_SCHEME_FILE } = context.env;
  const isGiven = Boolean(flags.scheme ?? (PARTNER_EXCHANGE_SCHEME || PARTNER_EXCHANGE_SCHEME_FILE));
  const scheme = isGiven ? configuration.deployment.signature : findScheme(deliveries, keys);
  const { proofs, strays } = await sortOut(context, deliveries, { scheme, keys });
  const made = pinScheme({ scheme, samples: proofs, credentials });
  // A pin is JSON in either format: it is made to be kept in a file.
  context.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
  warnOf(strays, output);
  output.status(
    `Pinned ${JSON.stringify(made.scheme)}: keep it in a file, and name that as PARTNER_EXCHANGE_SCHEME_FILE.`,
  );
  return exitCodes.ok;
}

/**
 * Separates deliveries that prove the scheme from those that a stranger can have posted.
 *
 * @throws {CliError} naming the file, if a delivery may speak against the scheme, or if none proves it
 */
async function sortOut(
  context: CliContext,
  deliveries: readonly NamedDelivery[],
  { scheme, keys }: { readonly scheme: SignatureScheme; readonly keys: KeyRing },
): Promise<{ readonly proofs: readonly Uint8Array[]; readonly strays: readonly Stray[] }> {
  const proofs: Uint8Array[] = [];
  const strays: Stray[] = [];
  for (const delivery of deliveries) {
    const judged = judgeSample(delivery.body, scheme, keys);
    if (judged.kind === 'proof') proofs.push(delivery.body);
    else strays.push(strayOf(delivery, judged));
    if (strays.filter(({ isSigned }) => isSigned).length > maxSearched) {
      const message = `More than ${maxSearched} signatures fit none of your keys: add the keys that signed them, or name the files to pin.`;
      throw new CliError(message, { exitCode: exitCodes.findings });
    }
    // Lets Ctrl-C in: a search takes tenths of a second.
    await setImmediate();
    context.signal.throwIfAborted();
  }
  const [first] = strays;
  if (proofs.length === 0 && first !== undefined) throw provesNothing(first);
  return { proofs, strays };
}

function warnOf(strays: readonly Stray[], output: Output): void {
  for (const { source, reason } of strays) output.warn(`${source} is left out: ${reason}`);
}

function findScheme(deliveries: readonly NamedDelivery[], keys: KeyRing): SignatureScheme {
  const bodies = deliveries.map(({ body }) => body);
  const detection = detectScheme(bodies, keys);
  const { verdict, message, survivors, nearMisses } = detection;
  const [only] = survivors;
  if (verdict === 'found' && only !== undefined) return only.scheme;
  const [first] = deliveries;
  if (verdict === 'unusable' && first !== undefined) {
    throw provesNothing(strayOf(first, judgeRefused(first.body, keys)));
  }
  const isForged = nearMisses.some(({ code }) => code === 'forged');
  const otherwise = isForged ? '' : ' Or say which scheme it is with --scheme.';
  throw new CliError(message + otherwise, { exitCode: exitCodes.findings });
}

/** A delivery that a stranger can have posted. */
interface Stray extends StraySample {
  readonly source: string;
}

/** @throws {CliError} for a delivery that may be genuine: it speaks against the scheme */
function strayOf(
  { source }: NamedDelivery,
  judged: Exclude<SampleVerdict, { readonly kind: 'proof' }>,
): Stray {
  if (judged.kind === 'stray') return { source: shownPath(source), ...judged };
  throw new CliError(
    `${shownPath(source)} does not verify, but may be genuine: ${judged.reason} Ask "partner-exchange explain", or leave it out.`,
    { exitCode: exitCodes.findings },
  );
}

function provesNothing({ source, reason, isSigned }: Stray): CliError {
  const exitCode = isSigned ? exitCodes.findings : exitCodes.usage;
  return new CliError(`${source} proves no scheme: ${reason}`, { exitCode });
}

async function check(
  context: CliContext,
  flags: Flags,
  { configuration, paths, path }: Request & { readonly path: string },
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const pinned = readJsonObject(await readInput(context, path), inputName(path));
  const credentials = allCredentials(configuration);
  const { scheme, fixtures } = inFile(path, () => checkPin(pinned, { credentials }));
  const keys = createKeyRing({ load: () => credentials });
  await keys.reload();
  const deliveries = paths.length === 0 ? [] : await readDeliveries(context, paths);
  const { proofs, strays } = await sortOut(context, deliveries, { scheme, keys });
  output.result({ scheme, fixtures, samples: proofs.length }, (paint) => [
    `${paint('green', 'holds')} ${printableText(path)}: ${fixtures} pinned and ${proofs.length} further samples verify.`,
  ]);
  warnOf(strays, output);
  return exitCodes.ok;
}
