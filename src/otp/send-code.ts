import { isOtpError, OtpError } from '../errors/errors.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordSet } from '../store/record-store.ts';
import {
  codeDigest,
  type Flow,
  type FlowContext,
  flowKey,
  makeCode,
  openContext,
  readFlow,
  type SentCode,
  sealContext,
  transact,
  validCodes,
  writeFlow,
} from './flow.ts';
import { counterKeys, limitsOf, type Reservation } from './limits.ts';
import { checkId, checkIssue, type IssueRequest } from './otp-input.ts';
import { notSentError, sendMessage } from './otp-messenger.ts';
import type { OtpSettings } from './otp-options.ts';
import type { Secret } from './otp-secrets.ts';

/** An issued code. */
export interface IssuedOtp {
  /** `check` needs it: give it to the person who types the code, e.g. as a form field or in a session. 22 characters. */
  readonly id: string;
  /** When the code just sent becomes invalid, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** When `resend`, or another `issue` to the number, is possible at the earliest, in milliseconds since 1970. */
  readonly resendAt: number;
  /** `unknown`: the connection broke, so the message may or may not arrive. The code is valid either way. */
  readonly delivery: 'sent' | 'unknown';
}

export async function issueCode(settings: OtpSettings, request: IssueRequest): Promise<IssuedOtp> {
  const { secrets, random, country } = settings;
  const context = checkIssue(request, country);
  // 128 bits, so that it cannot be guessed.
  const id = Buffer.from(random(16)).toString('base64url');
  const [secret] = secrets;
  const sealed = sealContext(secret, id, { context, random });
  const flow: Flow = { secret: secret.id, context: sealed, codes: [], sends: 0, attempts: 0 };
  // Should an id ever be made twice, the second flow is refused.
  const flowOf: Plan['flowOf'] = (stored) => (stored === undefined ? flow : undefined);
  return await sendCode(settings, { id, secret, context, flowOf });
}

export async function resendCode(settings: OtpSettings, givenId: string): Promise<IssuedOtp> {
  const { store, secrets, now } = settings;
  const id = checkId('resend', givenId);
  const key = flowKey(id);
  const flow = await transact(store, [key], (records) => readFlow(records, key));
  const opened = flow && openContext(secrets, id, flow);
  if (opened === undefined) throw nothingToResend();
  const flowOf: Plan['flowOf'] = (stored) =>
    stored !== undefined && validCodes(stored, now()).length > 0 ? stored : undefined;
  return await sendCode(settings, { id, ...opened, flowOf });
}

interface Plan {
  readonly id: string;
  readonly secret: Secret;
  readonly context: FlowContext;
  /** The flow to add a code to, given what is in the store; `undefined` without one. */
  readonly flowOf: (stored: Flow | undefined) => Flow | undefined;
}

/** Stores the code, sends it, and withdraws it if it was not sent. */
async function sendCode(settings: OtpSettings, plan: Plan): Promise<IssuedOtp> {
  const { id, secret, context } = plan;
  const { to_phone, purpose } = context;
  requireAllowed(settings, to_phone);
  const code = makeCode(settings.codeLength, settings.random);
  const message = messageOf(settings, code, purpose);
  const digest = codeDigest(secret, id, context, code).toString('base64url');
  const counters = counterKeys(settings, context);
  const stored = await storeCode(settings, plan, { counters, digest });
  const leftMs = () => stored.expiresAt - settings.now();
  const result = await sendMessage(settings, { to_phone, message }, leftMs);
  if (result.outcome === 'sent' || result.outcome === 'unknown') {
    const { reservation, expiresAt } = stored;
    return { id, expiresAt, resendAt: reservation.nextAt, delivery: result.outcome };
  }
  // A refused number stays counted: otherwise anyone could find out which numbers are on the messenger.
  const isCounted = result.outcome === 'refused';
  try {
    await transact(settings.store, [flowKey(id), ...counters.all], (records) => {
      withdrawCode(records, flowKey(id), { digest, isCounted });
      if (isCounted) return;
      limitsOf(records, counters, { settings, now: settings.now() }).giveBack(stored.reservation);
    });
  } catch {
    // The caller learns that the message was not sent. The unsent code will expire.
  }
  throw notSentError(result, [code, to_phone.replace(/^\+/, '')]);
}

async function storeCode(
  settings: OtpSettings,
  { id, flowOf }: Plan,
  { counters, digest }: { counters: ReturnType<typeof counterKeys>; digest: string },
): Promise<{ readonly reservation: Reservation; readonly expiresAt: number }> {
  const key = flowKey(id);
  const stored = await transact(settings.store, [key, ...counters.all], (records) => {
    const now = settings.now();
    const flow = flowOf(readFlow(records, key));
    if (flow === undefined) return nothingToResend();
    if (flow.sends >= settings.maxSends) {
      const details = { remedy: 'Issue a new one.', limit: 'maxSends' } as const;
      return new OtpError('limit_reached', 'This code was sent maxSends times.', details);
    }
    const reservation = limitsOf(records, counters, { settings, now }).reserve();
    if (isOtpError(reservation)) return reservation;
    const expiresAt = now + settings.lifetimeMs;
    const codes: SentCode[] = [...flow.codes, { digest, sentAt: now, expiresAt }];
    writeFlow(records, key, { ...flow, codes, sends: flow.sends + 1 });
    return { reservation, expiresAt };
  });
  if (isOtpError(stored)) throw stored;
  return stored;
}

/** Removes a code that was not sent; with the last one, the flow. */
function withdrawCode(
  records: RecordSet,
  key: string,
  { digest, isCounted }: { digest: string; isCounted: boolean },
): void {
  const flow = readFlow(records, key);
  // It may have been used or cancelled meanwhile.
  if (flow === undefined) return;
  const codes = flow.codes.filter((code) => code.digest !== digest);
  if (codes.length === 0) records.delete(key);
  else writeFlow(records, key, { ...flow, codes, sends: flow.sends - (isCounted ? 0 : 1) });
}

function requireAllowed({ allowedPrefixes }: OtpSettings, phone: string): void {
  if (allowedPrefixes === 'any' || allowedPrefixes.some((prefix) => phone.startsWith(prefix))) return;
  throw new OtpError('not_allowed', 'The phone number begins with none of allowedPrefixes.', {
    remedy: 'Allow its prefix if you want to send there.',
    member: 'to_phone',
  });
}

function messageOf({ lifetimeMs, message }: OtpSettings, code: string, purpose: string): string {
  const minutes = Math.max(1, Math.floor(lifetimeMs / 60_000));
  let text: unknown;
  try {
    text = message({ code, minutes, purpose });
  } catch {
    // Its error may hold the code.
  }
  if (typeof text === 'string' && text.includes(code)) return text;
  throw invalidOption('The function message must return a text that holds the code, and not throw.');
}

function nothingToResend(): OtpError {
  const what = 'There is no code to send again: it is unknown, used, expired or exhausted.';
  return new OtpError('not_allowed', what, { remedy: 'Issue a new code.' });
}
