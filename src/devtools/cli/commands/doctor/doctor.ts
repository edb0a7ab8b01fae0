import { environmentVariables, merchantPrefix } from '../../../../deployment/environment-variables.ts';
import { isConfigurationError, partsOf } from '../../../../errors/errors.ts';
import type { Finding } from '../../../diagnostics/finding.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes } from '../../terminal/context.ts';
import { findingLines } from '../../terminal/finding-lines.ts';
import { formatFlags, storesFlag, textFlag, webAddress, wholeNumber } from '../../terminal/flags.ts';
import { countBy, openOutput } from '../../terminal/output.ts';
import { examineBaseUrl, examineClock } from './addresses.ts';
import { examineCallback } from './callback.ts';
import { examineSamples } from './examine-samples.ts';
import { examineStores } from './stores.ts';
import {
  broken,
  ok,
  type Result,
  readSurroundings,
  type Surroundings,
  skippedCheck,
} from './surroundings.ts';

const flags = {
  callback: webAddress.optional(
    'url',
    'Your receiver: gets one body without a signature, which it must refuse',
  ),
  store: storesFlag('A store of yours'),
  samples: textFlag.list('file', 'Captured events, or folders of them: they must fit the deployment'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long to wait for each answer', '5000'),
  ...formatFlags,
};

export default defineCommand({
  brief: 'Check the set-up of an integration',
  about:
    'Checks the environment, the addresses of the service, the clock, the callback, stores and captured events. It changes nothing, and makes nothing. Exits with 1 if a check fails.',
  examples: [
    'partner-exchange doctor',
    'partner-exchange doctor --callback https://partner.example/orders',
    'partner-exchange doctor --store env:DATABASE_URL --samples ./events --format json',
  ],
  json: "{ checks: [{ id, verdict: 'ok' | 'weak' | 'broken' | 'skipped', what, advice? }] }",
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const surroundings = readSurroundings({
      env: context.env,
      timeoutMs: flags.timeoutMs,
      fetch: context.fetch,
      now: context.now,
      signal: context.signal,
    });
    const checks = await findAll({
      environment: () => examineEnvironment(surroundings),
      onboarding: () => examineBaseUrl('onboardingBaseUrl', surroundings),
      staging: () => examineBaseUrl('stagingUrl', surroundings),
      messenger: () => examineBaseUrl('messengerBaseUrl', surroundings),
      clock: () => examineClock(surroundings),
      callback: () => examineCallback(flags.callback, surroundings),
      store: () => examineStores(context, flags.store),
      samples: () => examineSamples(context, output, { paths: flags.samples, surroundings }),
    });
    output.result({ checks }, (paint) => findingLines(checks, paint));
    output.status(`${countBy(checks, 'verdict')}.`);
    return checks.some(({ verdict }) => verdict === 'broken') ? exitCodes.findings : exitCodes.ok;
  },
});

type Check = () => readonly Result[] | Promise<readonly Result[]>;

/** Runs all checks at once, since most of them wait for the network. */
async function findAll(checks: Readonly<Record<string, Check>>): Promise<Finding[]> {
  const running = Object.entries(checks).map(async ([id, check]) =>
    (await check()).map((result): Finding => ({ id, ...result })),
  );
  return (await Promise.all(running)).flat();
}

/** Which of our variables are set, and whether they can be read. A malformed one is a finding, not an error. */
function examineEnvironment({ env, environment }: Surroundings): Result[] {
  if (isConfigurationError(environment)) {
    const { what, remedy } = partsOf(environment);
    return [broken(what, remedy || 'Set the variable as docs/guides/environment-files.md says.')];
  }
  const names = Object.keys(env).filter(
    (name) =>
      env[name] &&
      (name.startsWith(merchantPrefix) || environmentVariables.some((variable) => variable.name === name)),
  );
  return [
    names.length === 0
      ? skippedCheck('None of the variables is set: docs/guides/environment-files.md lists them.')
      : ok(`Set: ${names.join(', ')}.`),
  ];
}
