import { describeError } from '../../redaction/describe-error.ts';
import { hidden } from '../../redaction/redact-credentials.ts';
import type { DoctorCheck } from './doctor-check.ts';
import { type DoctorContext, makeContext } from './doctor-context.ts';
import { type DoctorOptions, resolveDoctorOptions } from './doctor-options.ts';
import type { Examination, Found } from './examination.ts';
import { examinations } from './examinations.ts';

/**
 * Checks what an integration stands on, and says what to do where something is wrong: the runtime, environment
 * variables, keys, base URLs (name, certificate, answer), the clock, the proof of the signature scheme, the callback
 * URL and its receiver, the versions of optional peers, and the files of SQLite inboxes and stores.
 *
 * It changes nothing. It sends a GET without keys to each base URL, and to `callbackUrl` four requests that a receiver
 * has to refuse. What cannot be reached is skipped, unless `strict` is set. A check that fails by itself is a `fail`.
 *
 * @throws {ConfigurationError} for an option that is malformed or does not exist; a malformed environment is a finding
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
  const context = makeContext(resolveDoctorOptions(options));
  // All at once: most of them wait for the network.
  const running = examinations.map((each) => examine(each, context));
  const checks: DoctorCheck[] = [];
  for (const each of running) {
    const check = await each;
    context.signal?.throwIfAborted();
    checks.push(check);
    await context.onCheck(check);
  }
  return { checks };
}

/** Runs one check. Never rejects. */
export async function examine({ id, run }: Examination, context: DoctorContext): Promise<DoctorCheck> {
  const { status, found, fix, assumptions = [] } = await attempt(run, context);
  const conceal = (text: string) =>
    context.secrets.reduce((shown, secret) => shown.replaceAll(secret, hidden), text);
  return Object.freeze({
    id,
    status,
    found: conceal(found),
    ...(fix !== undefined && { fix: conceal(fix) }),
    assumptions,
  });
}

async function attempt(run: Examination['run'], context: DoctorContext): Promise<Found> {
  try {
    return await run(context);
  } catch (error) {
    return {
      status: 'fail',
      found: `The check itself failed: ${describeError(error)}`,
      fix: 'Report it: a check should not fail by itself.',
    };
  }
}
