import { ConfigurationError, OtpError } from '../errors/errors.ts';
import { hasAllowedPrefix } from '../internal/phone.ts';
import type { RecordSet } from '../store/record-store.ts';
import { type Counters, countersOf } from './counters.ts';
import {
  codeDigest,
  type Flow,
  type FlowContext,
  flowKey,
  makeCode,
  makeId,
  openContext,
  readFlow,
  type SentCode,
  sealContext,
  transact,
  validCodes,
  writeFlow,
} from './flow.ts';
import { denialError, keysOfCounters, limitsOf, type Reservation } from './limits.ts';
import { notSentError } from './not-sent-error.ts';
import { checkId, checkIssue, checkResend, type IssueRequest, type ResendOptions } from './otp-input.ts';
import { sendMessage } from './otp-messenger.ts';
import type { OtpSettings } from './otp-options.ts';
import type { OtpCall } from './otp-report.ts';
import type { Secret } from './otp-secrets.ts';

/** An issued code. */
export interface IssuedOtp {
  /** `check` needs it: give it to whoever types in the code, e.g. as a form field or in a session. 22 characters. */
  readonly id: string;
  /** When the code just sent becomes invalid, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** When `resend`, or another `issue` to the number, is possible at the earliest, in milliseconds since 1970. */
  readonly resendAt: number;
  /** `unknown`: the connection broke, so the message may or may not arrive. The code is valid either way. */
  readonly delivery: 'sent' | 'unknown';
}

export interface Sending {
  readonly settings: OtpSettings;
  readonly call: OtpCall;
}

export async function issueCode(sending: Sending, request: IssueRequest): Promise<IssuedOtp> {
  const { settings, call } = sending;
  const { secrets, random } = settings;
  const context = checkIssue(request, settings.country);
  call.about(context);
  requireAllowed(settings, context.to_phone);
  const id = makeId(random);
  const [secret] = secrets;
  const sealed = sealContext(secret, id, { context, random });
  return await sendCode(sending, {
    id,
    secret,
    context,
    network: context.network,
    flowOf: (found) =>
      // Should an id ever be made twice, the second flow is refused.
      found === undefined
        ? { secret: secret.id, context: sealed, codes: [], sends: 0, attempts: 0 }
        : undefined,
  });
}

export async function resendCode(
  sending: Sending,
  givenId: string,
  resendOptions: ResendOptions,
): Promise<IssuedOtp> {
  const { settings, call } = sending;
  const { store, secrets, now } = settings;
  const id = checkId('resend', givenId);
  const { network } = checkResend(resendOptions);
  const key = flowKey(id);
  const flow = await transact(store, [key], (records) => readFlow(records, key));
  const opened = flow && openContext(secrets, id, flow);
  if (opened === undefined) throw nothingToResend();
  const { secret, context } = opened;
  call.about(context);
  requireAllowed(settings, context.to_phone);
  return await sendCode(sending, {
    id,
    secret,
    context,
    network: network ?? context.network,
    flowOf: (found) => (found !== undefined && validCodes(found, now()).length > 0 ? found : undefined),
  });
}

interface Plan {
  readonly id: string;
  readonly secret: Secret;
  readonly context: FlowContext;
  readonly network: string | undefined;
  /** The flow to add a code to, given what is in the store; `undefined` if there is none. */
  readonly flowOf: (found: Flow | undefined) => Flow | undefined;
}

/** Stores the code, sends it, and withdraws it if it was not sent. */
async function sendCode({ settings, call }: Sending, plan: Plan): Promise<IssuedOtp> {
  const { store, codeLength, random } = settings;
  const { id, secret, context } = plan;
  const code = makeCode(codeLength, random);
  const message = messageOf(settings, code, context.purpose);
  const digest = codeDigest(secret, id, context, code).toString('base64url');
  const counters = countersOf(settings, { phone: context.to_phone, network: plan.network });
  const stored = await storeCode(settings, plan, { counters, digest });
  const begun = performance.now();
  const leftMs = () => stored.expiresAt - settings.now();
  const result = await sendMessage(settings, { to_phone: context.to_phone, message }, leftMs);
  call.sent(result, performance.now() - begun);
  if (result.outcome === 'sent' || result.outcome === 'unknown') {
    const { reservation, expiresAt } = stored;
    return { id, expiresAt, resendAt: reservation.nextAt, delivery: result.outcome };
  }
  const error = notSentError(result, [code, context.to_phone.replace(/^\+/, '')]);
  // A refused number stays counted: otherwise anyone could find out which numbers are on the messenger.
  const isCounted = result.outcome === 'refused';
  try {
    await transact(store, [flowKey(id), ...keysOfCounters(counters)], (records) => {
      withdrawCode(records, flowKey(id), { digest, isCounted });
      if (isCounted) return;
      limitsOf(records, counters, { settings, now: settings.now() }).giveBack(stored.reservation);
    });
  } catch {
    // The caller learns that the message was not sent. The unsent code will expire.
  }
  throw error;
}

interface StoredCode {
  readonly reservation: Reservation;
  readonly expiresAt: number;
}

async function storeCode(
  settings: OtpSettings,
  { id, flowOf }: Plan,
  { counters, digest }: { counters: Counters; digest: string },
): Promise<StoredCode> {
  const key = flowKey(id);
  const outcome = await transact(settings.store, [key, ...keysOfCounters(counters)], (records) => {
    const now = settings.now();
    const flow = flowOf(readFlow(records, key));
    if (flow === undefined) return 'no flow';
    if (flow.sends >= settings.maxSends) return 'too many';
    const reservation = limitsOf(records, counters, { settings, now }).reserve();
    if ('code' in reservation) return reservation;
    const expiresAt = now + settings.lifetimeMs;
    const code: SentCode = { digest, sentAt: now, expiresAt, networkKey: counters.network?.keys[0] ?? null };
    writeFlow(records, key, { ...flow, codes: [...flow.codes, code], sends: flow.sends + 1 });
    return { reservation, expiresAt };
  });
  if (outcome === 'no flow') throw nothingToResend();
  if (outcome === 'too many') {
    throw new OtpError('limit_reached', 'This code was sent maxSends times.', {
      remedy: 'Issue a new one.',
      limit: 'maxSends',
    });
  }
  if ('code' in outcome) throw denialError(outcome);
  return outcome;
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
  if (hasAllowedPrefix(phone, allowedPrefixes)) return;
  throw new OtpError('not_allowed', 'The phone number begins with none of allowedPrefixes.', {
    remedy: 'Allow its prefix if you want to send there.',
    member: 'to_phone',
  });
}

function messageOf(settings: OtpSettings, code: string, purpose: string): string {
  const minutes = Math.max(1, Math.floor(settings.lifetimeMs / 60_000));
  let text: unknown;
  try {
    text = settings.message({ code, minutes, purpose });
  } catch {
    // Without the cause, which may hold the code.
    throw new ConfigurationError('invalid_option', 'The function message threw an error.');
  }
  if (typeof text === 'string' && text.includes(code)) return text;
  throw new ConfigurationError(
    'invalid_option',
    'The function message must return a text that holds the code.',
  );
}

function nothingToResend(): OtpError {
  return new OtpError(
    'not_allowed',
    'There is no code to send again: it is unknown, used, expired or exhausted.',
    { remedy: 'Issue a new code.' },
  );
}
