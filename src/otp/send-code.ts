import { ConfigurationError } from '../errors/configuration-error.ts';
import { OtpError } from '../errors/otp-error.ts';
import { isRequestError } from '../errors/request-error.ts';
import { maskPhone } from '../phone/mask-phone.ts';
import { redactError } from '../redaction/redact-request.ts';
import { networkCounter, phoneCounter } from './counters.ts';
import { denialError } from './denials.ts';
import type { Delivery, Devices } from './devices.ts';
import {
  codeDigest,
  type Flow,
  type FlowContext,
  flowKey,
  makeId,
  openContext,
  readFlow,
  type SentCode,
  sealContext,
  validCodes,
  writeFlow,
} from './flow.ts';
import { type Counters, giveBack, messageKeys, type Reservation, reserveMessage } from './limits.ts';
import { makeCode } from './one-time-code.ts';
import { checkId, checkIssue, checkResend, type IssueRequest, type ResendOptions } from './otp-input.ts';
import type { ResolvedOtpOptions } from './otp-options.ts';
import type { ReportDetails } from './otp-report.ts';
import { transact } from './otp-store.ts';
import type { Secret } from './secrets.ts';

/** A code is out. */
export interface IssuedOtp {
  /** Give it to whoever types in the code, e.g. as a form field or in a session; `check` needs it. 22 characters. */
  readonly id: string;
  /** When the code just sent becomes invalid, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** When `resend`, or another `issue` to the number, is possible at the earliest, in milliseconds since 1970. */
  readonly resendAt: number;
  /** `unknown`: the connection broke, so the message may arrive or not. The code is valid either way. */
  readonly delivery: 'sent' | 'unknown';
}

/** What both kinds of sending need. */
export interface Sending {
  readonly options: ResolvedOtpOptions;
  readonly devices: Devices;
  readonly details: ReportDetails;
}

/** The first code of a new flow. */
export async function issueCode(sending: Sending, request: IssueRequest): Promise<IssuedOtp> {
  const { options, details } = sending;
  const { secrets, random } = options;
  const context = checkIssue(request);
  details.purpose = context.purpose;
  details.to_phone = maskPhone(context.to_phone);
  requireAllowed(options, context.to_phone);
  const id = makeId(random);
  const [secret] = secrets;
  const sealed = sealContext(secret, id, { context, random });
  return await sendCode(sending, {
    id,
    secret,
    context,
    network: context.network,
    flowOf: (found) =>
      // An id is never made twice; if it were, nobody may get into the flow of somebody else.
      found === undefined
        ? { secret: secret.id, context: sealed, codes: [], sends: 0, attempts: 0 }
        : undefined,
  });
}

/** Another code of a flow, beside the earlier ones. */
export async function resendCode(
  sending: Sending,
  givenId: string,
  resendOptions: ResendOptions,
): Promise<IssuedOtp> {
  const { options, details } = sending;
  const { store, secrets, now } = options;
  const id = checkId('resend', givenId);
  const { network } = checkResend(resendOptions);
  const key = flowKey(id);
  const flow = await transact(store, [key], (records) => readFlow(records, key));
  const opened = flow && openContext(secrets, id, flow);
  if (opened === undefined) throw nothingToResend();
  const { secret, context } = opened;
  details.purpose = context.purpose;
  details.to_phone = maskPhone(context.to_phone);
  requireAllowed(options, context.to_phone);
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
  /** Who asks for this message. */
  readonly network: string | undefined;
  /** The flow to add a code to, given what is in the store; `undefined` if there is none. */
  readonly flowOf: (found: Flow | undefined) => Flow | undefined;
}

/** Stores the code, then sends it, then takes back what was not sent. */
async function sendCode({ options, devices, details }: Sending, plan: Plan): Promise<IssuedOtp> {
  const { store, secrets, codeLength, random } = options;
  const { id, secret, context } = plan;
  const code = makeCode(codeLength, random);
  const message = messageOf(options, code, context.purpose);
  const digest = codeDigest(secret, id, context, code).toString('base64url');
  const counters: Counters = {
    phone: phoneCounter(secrets, context.to_phone),
    network: plan.network === undefined ? undefined : networkCounter(secrets, plan.network),
  };
  const stored = await storeCode(options, plan, { counters, digest });
  const begun = performance.now();
  const delivery = await devices.send({ to_phone: context.to_phone, message });
  details.messengerMs = performance.now() - begun;
  details.device = delivery.device;
  if (delivery.outcome === 'sent' || delivery.outcome === 'unknown') {
    const { reservation, expiresAt } = stored;
    return { id, expiresAt, resendAt: reservation.nextAt, delivery: delivery.outcome };
  }
  const error = notSentError(delivery, [code, context.to_phone, context.to_phone.slice(1)]);
  try {
    await transact(store, [flowKey(id), ...messageKeys(counters, options)], (records) => {
      withdrawCode(records, flowKey(id), { digest, isCounted: delivery.outcome === 'refused' });
      // A number that is refused stays counted, or anybody could find out which numbers are on the messenger.
      if (delivery.outcome === 'refused') return;
      giveBack(records, counters, { options, reservation: stored.reservation, now: options.now() });
    });
  } catch {
    // The message was not sent, which is what the caller has to know. The code that nobody has expires by itself.
  }
  throw error;
}

interface StoredCode {
  readonly reservation: Reservation;
  readonly expiresAt: number;
}

async function storeCode(
  options: ResolvedOtpOptions,
  { id, flowOf }: Plan,
  { counters, digest }: { counters: Counters; digest: string },
): Promise<StoredCode> {
  const key = flowKey(id);
  const outcome = await transact(options.store, [key, ...messageKeys(counters, options)], (records) => {
    const now = options.now();
    const flow = flowOf(readFlow(records, key));
    if (flow === undefined) return 'no flow';
    if (flow.sends >= options.maxSends) return 'too many';
    const reservation = reserveMessage(records, counters, { options, now });
    if ('code' in reservation) return reservation;
    const expiresAt = now + options.lifetimeMs;
    const code: SentCode = { digest, sentAt: now, expiresAt, networkKey: counters.network?.keys[0] ?? null };
    writeFlow(records, key, { ...flow, codes: [...flow.codes, code], sends: flow.sends + 1 });
    return { reservation, expiresAt };
  });
  if (outcome === 'no flow') throw nothingToResend();
  if (outcome === 'too many') {
    throw new OtpError('limit_reached', 'This code was sent maxSends times: issue a new one.', {
      limit: 'maxSends',
    });
  }
  if ('code' in outcome) throw denialError(outcome);
  return outcome;
}

/** Removes a code that nobody got; with the last one, the flow. */
function withdrawCode(
  records: Parameters<typeof readFlow>[0],
  key: string,
  { digest, isCounted }: { digest: string; isCounted: boolean },
): void {
  const flow = readFlow(records, key);
  // Meanwhile it may have been used or cancelled.
  if (flow === undefined) return;
  const codes = flow.codes.filter((code) => code.digest !== digest);
  if (codes.length === 0) records.delete(key);
  else writeFlow(records, key, { ...flow, codes, sends: flow.sends - (isCounted ? 0 : 1) });
}

function requireAllowed({ allowedPrefixes }: ResolvedOtpOptions, phone: string): void {
  if (allowedPrefixes === 'any' || allowedPrefixes.some((prefix) => phone.startsWith(prefix))) return;
  throw new OtpError('not_allowed', 'The phone number begins with none of allowedPrefixes.');
}

function messageOf(options: ResolvedOtpOptions, code: string, purpose: string): string {
  const minutes = Math.max(1, Math.floor(options.lifetimeMs / 60_000));
  let text: unknown;
  try {
    text = options.message({ code, minutes, purpose });
  } catch {
    // Without the cause: it may hold the code.
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
    'There is no code to send again: it is unknown, used, expired or exhausted. Issue a new one.',
  );
}

/** @param secrets what no text may repeat */
function notSentError({ outcome, error }: Delivery, secrets: readonly string[]): OtpError {
  // A copy: the reply that the original holds may repeat the message.
  const cause = redactError(error, secrets);
  if (outcome === 'refused') {
    return new OtpError('refused', 'The service does not take this phone number: no code was sent.', {
      cause,
    });
  }
  const retryAfterMs = isRequestError(error) ? error.retryAfterMs : undefined;
  return new OtpError('not_sent', 'No device could send the code; nothing was counted. Try again.', {
    retryAfterMs,
    cause,
  });
}
