import {
  isPartnerExchangeError,
  isRequestError,
  type MessageParts,
  OtpError,
  type PartnerExchangeError,
  partsOf,
  RequestError,
  whatFailed,
} from '../errors/errors.ts';
import { redactError } from '../internal/driver-error.ts';
import { redactReply, repeatsOf } from '../internal/echoed-secrets.ts';
import { hidden, redactCredentials } from '../internal/redact-credentials.ts';
import type { SendResult } from './otp-messenger.ts';

/** Longer than any message of our clients; another messenger's may be of any length. */
const maxReason = 1_000;

/**
 * The error for a message that was not sent or refused. Its message gives the reason, and its cause is the messenger's
 * error, so both are cleared of secrets.
 *
 * @param secrets the code, and the phone number without its +, as services often write it
 */
export function notSentError({ outcome, error }: SendResult, secrets: readonly string[]): OtpError {
  // After an error of any other kind the outcome is unknown.
  if (!isPartnerExchangeError(error)) {
    return new OtpError('not_sent', 'The code expired before it could leave, and nothing was counted.', {
      remedy: 'Find out whether the process was suspended, and issue a new code.',
    });
  }
  const shown = redactorOf(secrets);
  const cause = withoutSecrets(error, secrets);
  const reason = shown(whatFailed(error)).slice(0, maxReason);
  // Of the cause if it has any: that knows more than our table.
  const parts = partsOf(error);
  const remedy = shown(parts.remedy) || undefined;
  const brief = briefly(parts, shown);
  const shortly = (what: string) => brief && { ...brief, what: `${what}: ${brief.what}` };
  if (outcome === 'refused') {
    const refused = 'The service does not take this phone number';
    const what = `${refused}, and no code was sent: ${reason}`;
    return new OtpError('refused', what, { remedy, brief: shortly(refused), cause, member: 'to_phone' });
  }
  return new OtpError('not_sent', `The device did not send the code, and nothing was counted: ${reason}`, {
    remedy,
    brief: shortly('The device did not send the code'),
    retryAfterMs: isRequestError(error) ? error.retryAfterMs : undefined,
    cause,
  });
}

/** Our clients' errors hold no secret; those of another messenger may quote the message, whatever their kind. */
function redactorOf(secrets: readonly string[]): (text: string) => string {
  const repeats = repeatsOf(secrets);
  return (text) => (repeats(text) ? hidden : redactCredentials(text));
}

function briefly({ brief }: MessageParts, shown: (text: string) => string): MessageParts['brief'] {
  return brief && { what: shown(brief.what), remedy: shown(brief.remedy) };
}

/** The error itself if it holds no secret, so that it keeps its kind; a request error is always copied. */
function withoutSecrets(error: PartnerExchangeError, secrets: readonly string[]): Error | undefined {
  if (isRequestError(error)) return redactedCopy(error, secrets);
  return isClean(error, secrets) ? error : redactError(error, secrets);
}

/** Whether its own texts hold no secret. A cause could hold anything. */
function isClean(error: PartnerExchangeError, secrets: readonly string[]): boolean {
  if (error.cause !== undefined) return false;
  // The line numbers of its frames can look like a code.
  const stack = String(error.stack).replaceAll(/^ +at .+$/gm, '');
  try {
    const text = [error.message, stack, JSON.stringify(error)].join(' ');
    return !repeatsOf(secrets)(text);
  } catch {
    return false;
  }
}

function redactedCopy(error: RequestError, secrets: readonly string[]): RequestError {
  const { code, outcome, attempts, status, retryAfterMs, assumptions, headers, issues } = error;
  const shown = redactorOf(secrets);
  const repeats = repeatsOf(secrets);
  const cause = redactError(error.cause, secrets);
  const parts = partsOf(error);
  const copy = new RequestError(code, shown(parts.what), {
    remedy: shown(parts.remedy),
    brief: briefly(parts, shown),
    outcome,
    operation: shown(error.operation),
    method: shown(error.method),
    url: shown(error.url),
    attempts,
    assumptions,
    body: redactReply(error.body, (text) => (repeats(text) ? hidden : text)),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(headers && {
      headers: new Headers([...headers].map(([name, value]): [string, string] => [name, shown(value)])),
    }),
    ...(issues && { issues: issues.map(({ message, path }) => ({ message: shown(message), path })) }),
    ...(cause && { cause }),
  });
  Object.defineProperty(copy, 'stack', { value: shown(String(error.stack)) });
  return copy;
}
