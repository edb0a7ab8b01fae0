import { describeError } from '../../../../internal/driver-error.ts';
import type { Finding } from '../../../diagnostics/finding.ts';
import { readDeliveries } from '../../deliveries/saved-deliveries.ts';
import { readNamedKeys, withScheme } from '../../inputs/configuration.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, exitCodes } from '../../terminal/context.ts';
import { findingLines } from '../../terminal/finding-lines.ts';
import {
  formatFlags,
  signingFlags,
  storesFlag,
  textFlag,
  toggle,
  webAddress,
  wholeNumber,
} from '../../terminal/flags.ts';
import { countBy, openOutput } from '../../terminal/output.ts';
import { examineBaseUrl, examineClock } from './addresses.ts';
import { examineCallback } from './callback.ts';
import {
  examineEnvironment,
  examineExampleAddresses,
  examineKeys,
  examineNames,
} from './configuration-checks.ts';
import { examineDeploymentFile, examineSamples, examineStores } from './stored.ts';
import { broken, type Result, readSurroundings } from './surroundings.ts';

const flags = {
  callback: webAddress.optional(
    'url',
    'Your receiver: gets one body without a signature, which it must refuse',
  ),
  store: storesFlag('A store of yours'),
  samples: textFlag.list('file', 'Captured events, or folders of them: they must fit the deployment'),
  strict: toggle('Fail if an address cannot be reached'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long to wait for each answer', '5000'),
  ...signingFlags,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Check the set-up of an integration',
  about:
    'Checks the environment, the keys, the deployment file, the addresses of the service, the clock, the callback, stores and captured events. It changes nothing, and makes nothing. Exits with 1 if a check fails. Addresses that cannot be reached are skipped, unless --strict is given; a port at which nothing listens fails.',
  examples: [
    'partner-exchange doctor',
    'partner-exchange doctor --callback https://partner.example/orders --strict',
    'partner-exchange doctor --store env:DATABASE_URL --samples ./events --format json',
  ],
  json: "{ checks: [{ id, verdict: 'ok' | 'weak' | 'broken' | 'skipped', what, advice? }] }",
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const samples = flags.samples && (await readDeliveries(context, flags.samples));
    const surroundings = readSurroundings({
      // A malformed variable is a finding, not an error: the doctor reads them itself.
      env: withScheme(context, flags.scheme),
      credentials: await readNamedKeys(context, flags),
      strict: flags.strict,
      timeoutMs: flags.timeoutMs,
      fetch: context.fetch,
      now: context.now,
      signal: context.signal,
    });
    const checks = await findAll(context, {
      environment: () => examineEnvironment(surroundings),
      variables: () => examineNames(surroundings),
      'example-address': () => examineExampleAddresses(surroundings),
      keys: () => examineKeys(surroundings),
      'deployment-file': () => examineDeploymentFile(surroundings),
      onboarding: () => examineBaseUrl('onboardingBaseUrl', surroundings),
      staging: () => examineBaseUrl('stagingUrl', surroundings),
      messenger: () => examineBaseUrl('messengerBaseUrl', surroundings),
      clock: () => examineClock(surroundings),
      callback: () => examineCallback(flags.callback, surroundings),
      store: () => examineStores(context, flags.store),
      samples: () => examineSamples(samples, surroundings),
    });
    output.result({ checks }, (paint) => findingLines(checks, paint));
    output.status(`${countBy(checks, 'verdict')}.`);
    return checks.some(({ verdict }) => verdict === 'broken') ? exitCodes.findings : exitCodes.ok;
  },
});

type Check = () => readonly Result[] | Promise<readonly Result[]>;

/** Runs all checks at once, since most of them wait for the network. A check that fails by itself is a finding. */
export async function findAll(
  { signal }: Pick<CliContext, 'signal'>,
  checks: Readonly<Record<string, Check>>,
): Promise<Finding[]> {
  const running = Object.entries(checks).map(async ([id, check]) => {
    const results = await attempt(check);
    return results.map((result): Finding => ({ id, ...result }));
  });
  const findings = await Promise.all(running);
  signal.throwIfAborted();
  return findings.flat();
}

async function attempt(check: Check): Promise<readonly Result[]> {
  try {
    return await check();
  } catch (error) {
    const what = `The check itself failed: ${describeError(error)}`;
    return [broken(what, 'Report it: a check should not fail by itself.')];
  }
}
