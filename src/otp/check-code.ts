import { timingSafeEqual } from 'node:crypto';
import { maskPhone } from '../phone/mask-phone.ts';
import type { RecordSet } from '../store/record-store.ts';
import { networkCounter, networkCounterAt, phoneCounter } from './counters.ts';
import { denialError } from './denials.ts';
import {
  codeDigest,
  type Flow,
  type FlowContext,
  flowKey,
  openContext,
  readFlow,
  type SentCode,
  sealContext,
  validCodes,
  writeFlow,
} from './flow.ts';
import {
  attemptKeys,
  type Counters,
  confirmPhone,
  countFailure,
  creditNetwork,
  deniedCheck,
} from './limits.ts';
import { readTypedCode } from './one-time-code.ts';
import { type CheckOptions, type Claim, checkClaimed, checkId } from './otp-input.ts';
import type { ResolvedOtpOptions } from './otp-options.ts';
import type { ReportDetails } from './otp-report.ts';
import { transact } from './otp-store.ts';

/**
 * What came of a check.
 *
 * - `wrong`: try again, as long as there are `attemptsLeft`.
 * - `not_valid`: no code can be right any more: it is unknown, expired, used, cancelled, out of attempts, or for another
 *   purpose or subject. Which of these, nobody is told. Issue a new one.
 */
export type CheckedOtp =
  | { readonly ok: true /** In E.164. */; readonly to_phone: string }
  | { readonly ok: false; readonly reason: 'wrong' | 'not_valid'; readonly attemptsLeft: number };

const notValid: CheckedOtp = Object.freeze({ ok: false, reason: 'not_valid', attemptsLeft: 0 });

export async function checkCode(
  options: ResolvedOtpOptions,
  details: ReportDetails,
  { id: givenId, code, checkOptions }: { id: string; code: string; checkOptions: CheckOptions },
): Promise<CheckedOtp> {
  const { store, secrets } = options;
  const id = checkId('check', givenId);
  const claim = checkClaimed(code, checkOptions);
  details.purpose = claim.purpose;
  const key = flowKey(id);
  const found = await transact(store, [key], (records) => readFlow(records, key));
  const opened = openOrPretend(options, id, { flow: found, claim });
  const { context, isRight } = opened;
  if (opened.isKnown) details.to_phone = maskPhone(context.to_phone);
  const counters: Counters = {
    phone: phoneCounter(secrets, context.to_phone),
    network: claim.network === undefined ? undefined : networkCounter(secrets, claim.network),
  };
  const digest = codeDigest(opened.secret, id, context, readTypedCode(code));

  // Counting, comparing and using up are one transaction: nobody learns of a comparison that was not counted.
  const outcome = await transact(store, [key, ...attemptKeys(counters)], (records) => {
    const now = options.now();
    const denial = deniedCheck(records, counters, { options, now });
    if (denial !== undefined) return denial;
    const flow = isRight ? readFlow(records, key) : undefined;
    const codes = flow === undefined ? [] : validCodes(flow, now);
    if (flow === undefined || codes.length === 0) {
      countFailure(records, counters, { options, now, wasCompared: false });
      return notValid;
    }
    return compare(records, { options, now, key, flow, codes, counters, digest, to_phone: context.to_phone });
  });
  if ('code' in outcome) throw denialError(outcome);
  if (outcome.ok && found !== undefined) await creditNetworks(options, found);
  return outcome;
}

/** One guess at the codes that are valid. */
function compare(
  records: RecordSet,
  {
    options,
    now,
    key,
    flow,
    codes,
    counters,
    digest,
    to_phone,
  }: {
    options: ResolvedOtpOptions;
    now: number;
    key: string;
    flow: Flow;
    codes: readonly SentCode[];
    counters: Counters;
    digest: Buffer;
    to_phone: string;
  },
): CheckedOtp {
  const attempts = flow.attempts + 1;
  if (matchesOne(codes, digest)) {
    // Used: from now on it is as unknown as any other.
    records.delete(key);
    confirmPhone(records, counters, { options, now });
    return { ok: true, to_phone };
  }
  countFailure(records, counters, { options, now, wasCompared: true });
  if (attempts >= options.maxAttempts) records.delete(key);
  else writeFlow(records, key, { ...flow, attempts });
  return { ok: false, reason: 'wrong', attemptsLeft: Math.max(0, options.maxAttempts - attempts) };
}

/** Compares with all of them, whichever is right. */
function matchesOne(codes: readonly SentCode[], digest: Buffer): boolean {
  let matches = 0;
  for (const code of codes) {
    const stored = Buffer.from(code.digest, 'base64url');
    matches += Number(stored.byteLength === digest.byteLength && timingSafeEqual(stored, digest));
  }
  return matches > 0;
}

/**
 * What the flow is about. Without a flow, the same work is done for one that nobody has: neither the answer nor its time
 * tells whether an id exists.
 */
function openOrPretend(
  { secrets }: ResolvedOtpOptions,
  id: string,
  { flow, claim }: { flow: Flow | undefined; claim: Claim },
) {
  const opened = flow && openContext(secrets, id, flow);
  if (opened !== undefined) {
    const { purpose, subject } = opened.context;
    return { ...opened, isKnown: true, isRight: purpose === claim.purpose && subject === claim.subject };
  }
  const [secret] = secrets;
  // Not a phone number, so its counters are nobody's.
  const context: FlowContext = { ...claim, to_phone: id };
  sealContext(secret, id, { context, random: (bytes) => new Uint8Array(bytes) });
  return { secret, context, isKnown: false, isRight: false };
}

/** Tells the networks that asked for messages that these were not sent for nothing. */
async function creditNetworks(options: ResolvedOtpOptions, flow: Flow): Promise<void> {
  const networks = Map.groupBy(flow.codes, ({ networkKey }) => networkKey);
  for (const [key, codes] of networks) {
    if (key === null) continue;
    const network = networkCounterAt([key]);
    try {
      await transact(options.store, network.keys, (records) => {
        creditNetwork(records, network, { options, now: options.now(), messages: codes.length });
      });
    } catch {
      // The code is used and has to be answered with success. The messages stay unconfirmed: it is only stricter.
    }
  }
}
