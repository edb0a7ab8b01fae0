import { describeError } from '../../../internal/driver-error.ts';
import { hidden } from '../../../internal/redact-credentials.ts';
import type { AttackVerdict, CheckResult } from '../check-result.ts';
import { type Check, fail } from './check.ts';
import { baseUrlChecks, callbackTls, clockCheck } from './checks/addresses.ts';
import { baseUrlPath } from './checks/base-url-path.ts';
import { callbackAddress } from './checks/callback-address.ts';
import { callbackReceiver } from './checks/callback-receiver.ts';
import { databaseFileChecks } from './checks/database-files.ts';
import { environment, environmentNames, exampleAddress, keys } from './checks/environment.ts';
import { peerChecks, runtime } from './checks/installation.ts';
import { learntAssumptions } from './checks/learnt-assumptions.ts';
import {
  type DoctorCheck,
  type DoctorContext,
  type DoctorOptions,
  type DoctorStatus,
  makeContext,
  readDoctorOptions,
} from './doctor-context.ts';

/**
 * Checks the surroundings of an integration, and says how to fix each problem: the runtime, environment variables,
 * keys, base URLs (name, certificate, answer), the clock, the proof of the signature scheme, the callback URL and
 * its receiver, the versions of optional peers, and the files of SQLite inboxes and stores.
 *
 * It changes nothing. It sends GET and OPTIONS without keys to each base URL, and to `callbackUrl` four requests that a
 * receiver has to refuse. Unreachable addresses are skipped, unless `strict` is set; a port that refuses is a `fail`. A check that fails by itself is
 * a `fail`.
 *
 * @throws {ConfigurationError} for an option that is malformed or does not exist; a malformed environment is a
 * finding
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys
 * @example
 * ```ts
 * const { checks } = await runDoctor({ callbackUrl: 'https://partner.example/orders' });
 * for (const { id, status, found, fix } of checks) console.log(status, id, found, fix ?? '');
 * ```
 */
export async function runDoctor(
  options: DoctorOptions = {},
): Promise<{ readonly checks: readonly DoctorCheck[] }> {
  const context = makeContext(readDoctorOptions(options));
  // All at once, since most of them wait for the network.
  const running = doctorChecks.map((check) => runCheck(check, context));
  const checks: DoctorCheck[] = [];
  for (const pending of running) {
    checks.push(await pending);
    context.signal?.throwIfAborted();
  }
  return { checks };
}

/** Never rejects. */
export async function runCheck({ id, run }: Check, context: DoctorContext): Promise<DoctorCheck> {
  const { verdict, answered, advice, assumptions = [] } = await attempt(run, context);
  const conceal = (text: string) =>
    context.secrets.reduce((clean, secret) => clean.replaceAll(secret, hidden), text);
  return Object.freeze({
    id,
    status: statusOf[verdict],
    found: conceal(answered),
    ...(advice !== undefined && { fix: conceal(advice) }),
    assumptions,
  });
}

const statusOf: Readonly<Record<AttackVerdict, DoctorStatus>> = {
  ok: 'ok',
  weak: 'warn',
  broken: 'fail',
  skipped: 'skip',
};

async function attempt(run: Check['run'], context: DoctorContext): Promise<CheckResult> {
  try {
    return await run(context);
  } catch (error) {
    const what = `The check itself failed: ${describeError(error)}`;
    return fail(what, 'Report it: a check should not fail by itself.');
  }
}

/** In the order of the report. */
export const doctorChecks: readonly Check[] = [
  runtime,
  environment,
  environmentNames,
  exampleAddress,
  keys,
  learntAssumptions,
  ...baseUrlChecks('onboarding', 'onboardingBaseUrl'),
  baseUrlPath('onboarding', 'onboardingBaseUrl'),
  ...baseUrlChecks('staging', 'stagingUrl'),
  baseUrlPath('staging', 'stagingUrl'),
  ...baseUrlChecks('messenger', 'messengerBaseUrl'),
  baseUrlPath('messenger', 'messengerBaseUrl'),
  clockCheck,
  callbackAddress,
  callbackTls,
  callbackReceiver,
  ...peerChecks,
  ...databaseFileChecks('inbox', ({ inboxFiles }) => inboxFiles),
  ...databaseFileChecks('store', ({ storeFiles }) => storeFiles),
];
