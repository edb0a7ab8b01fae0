import { timingSafeEqual } from 'node:crypto';
import {
  codeDigest,
  type Flow,
  type FlowContext,
  flowKey,
  openContext,
  readFlow,
  readTypedCode,
  type SentCode,
  sealContext,
  transact,
  validCodes,
  writeFlow,
} from './flow.ts';
import { counterKeys, limitsOf } from './limits.ts';
import { type CheckOptions, checkId, checkUse } from './otp-input.ts';
import type { OtpSettings } from './otp-options.ts';

/**
 * The result of a check.
 *
 * - `wrong`: try again; there are `attemptsLeft`, at least 1. A text without `codeLength` digits costs none.
 * - `not_valid`: no code can be right any more: it is unknown, expired, used, cancelled, out of attempts, or for another
 *   purpose or subject. The result does not say which. Issue a new one.
 */
export type CheckedOtp =
  | { readonly ok: true /** The phone number, in E.164. */; readonly to_phone: string }
  | { readonly ok: false; readonly reason: 'wrong' | 'not_valid'; readonly attemptsLeft: number };

const notValid: CheckedOtp = Object.freeze({ ok: false, reason: 'not_valid', attemptsLeft: 0 });

export async function checkCode(
  settings: OtpSettings,
  { id: givenId, code, checkOptions }: { id: string; code: string; checkOptions: CheckOptions },
): Promise<CheckedOtp> {
  const { store, secrets } = settings;
  const id = checkId('check', givenId);
  const use = checkUse(code, checkOptions);
  const key = flowKey(id);
  const stored = await transact(store, [key], (records) => readFlow(records, key));
  const { secret, context, isRight } = openOrDecoy(secrets, id, { flow: stored, use });
  const counters = counterKeys(settings, { to_phone: context.to_phone });
  const typed = readTypedCode(code, settings.codeLength);
  const digest = codeDigest(secret, id, context, typed ?? '');

  // Counting, comparing and using up are one transaction, so no comparison goes uncounted.
  const outcome = await transact(
    store,
    [key, ...counters.all],
    (records): CheckedOtp => {
      const now = settings.now();
      const limits = limitsOf(records, counters, { settings, now });
      const flow = isRight ? readFlow(records, key) : undefined;
      const codes = flow === undefined ? [] : validCodes(flow, now);
      if (flow === undefined || codes.length === 0) return notValid;
      // Not a guess: nothing was compared that could have been right.
      if (typed === undefined)
        return { ok: false, reason: 'wrong', attemptsLeft: settings.maxAttempts - flow.attempts };
      if (matchesOne(codes, digest)) {
        records.delete(key);
        limits.confirm();
        return { ok: true, to_phone: context.to_phone };
      }
      limits.countFailure();
      const attempts = flow.attempts + 1;
      const attemptsLeft = settings.maxAttempts - attempts;
      if (attemptsLeft <= 0) {
        records.delete(key);
        return notValid;
      }
      writeFlow(records, key, { ...flow, attempts });
      return { ok: false, reason: 'wrong', attemptsLeft };
    },
    'The store of the one-time codes failed while a code was checked: it was not accepted, but may be used up.',
  );
  if (outcome.ok && context.network !== undefined)
    await creditNetwork(settings, context, stored?.codes.length ?? 0);
  return outcome;
}

/** Compares with all, so that the time does not tell which is right. */
function matchesOne(codes: readonly SentCode[], digest: Buffer): boolean {
  const matches = codes.filter((code) => {
    const known = Buffer.from(code.digest, 'base64url');
    return known.byteLength === digest.byteLength && timingSafeEqual(known, digest);
  });
  return matches.length > 0;
}

/** Without a flow, opens a decoy: neither the answer nor its time tells whether an id exists. */
function openOrDecoy(
  secrets: OtpSettings['secrets'],
  id: string,
  { flow, use }: { flow: Flow | undefined; use: ReturnType<typeof checkUse> },
) {
  const opened = flow && openContext(secrets, id, flow);
  if (opened !== undefined) {
    const { purpose, subject } = opened.context;
    return { ...opened, isRight: purpose === use.purpose && subject === use.subject };
  }
  const [secret] = secrets;
  // Not a phone number, so its counters belong to no one.
  const context: FlowContext = { ...use, to_phone: id };
  sealContext(secret, id, { context, random: (bytes) => new Uint8Array(bytes) });
  return { secret, context, isRight: false };
}

/** The messages that a network asked for are confirmed: see `unconfirmedPerIp`. */
async function creditNetwork(settings: OtpSettings, context: FlowContext, messages: number): Promise<void> {
  const counters = counterKeys(settings, context);
  try {
    await transact(settings.store, counters.all, (records) =>
      limitsOf(records, counters, { settings, now: settings.now() }).creditNetwork(messages),
    );
  } catch {
    // The check has succeeded. Unconfirmed messages only make the limit stricter.
  }
}
