import {
  isPartnerExchangeError,
  isRequestError,
  OtpError,
  partsOf,
  RequestError,
  whatFailed,
} from '../errors/errors.ts';
import { mapText } from '../errors/remedies.ts';
import { redactCredentials } from '../internal/redact-credentials.ts';
import { echoRedactor, redactReply } from '../internal/redact-echo.ts';
import { redactError } from '../internal/redact-error.ts';
import type { SendResult } from './devices.ts';

/** Longer than any message of our clients; another messenger's may be of any length. */
const maxReason = 1_000;

/**
 * The error for a message that was not sent or refused. Its message gives the reason, and its cause is the device's
 * error, so both are cleared of secrets.
 *
 * @param secrets the code and the phone number
 */
export function notSentError(
  { outcome, error, device, tried }: SendResult,
  secrets: readonly string[],
): OtpError {
  // After an error of any other kind the outcome is unknown.
  if (!isPartnerExchangeError(error)) {
    return new OtpError('not_sent', 'The code expired before it could leave, and nothing was counted.', {
      remedy: 'Find out whether the process was suspended, and issue a new code.',
    });
  }
  // The other kinds are about options, input and keys, and quote neither the code nor the number.
  const cause = isRequestError(error) ? redactedCopy(error, secrets) : error;
  const reason = whatFailed(cause).slice(0, maxReason);
  // Of the cause if it has any: that knows more than our table.
  const remedy = partsOf(cause).remedy || undefined;
  if (outcome === 'refused') {
    const what = `The service does not take this phone number, and no code was sent: ${reason}`;
    return new OtpError('refused', what, { remedy, cause });
  }
  const last = tried > 1 ? ` (the last of ${tried} tried was device ${device})` : '';
  return new OtpError(
    'not_sent',
    `No device could send the code, and nothing was counted${last}: ${reason}`,
    {
      remedy,
      retryAfterMs: isRequestError(error) ? error.retryAfterMs : undefined,
      cause,
    },
  );
}

/** Our clients' errors hold no secret; those of another messenger may quote the message. */
function redactedCopy(error: RequestError, secrets: readonly string[]): RequestError {
  const { code, outcome, attempts, status, retryAfterMs, assumptions, headers, issues } = error;
  const redact = echoRedactor(secrets);
  const shown = (text: unknown) => redactCredentials(redact(text));
  const cause = redactError(error.cause, secrets);
  const { what, remedy } = partsOf(error);
  const copy = new RequestError(code, mapText(what, shown), {
    remedy: mapText(remedy, shown),
    outcome,
    operation: shown(error.operation),
    method: shown(error.method),
    url: shown(error.url),
    attempts,
    assumptions,
    body: redactReply(error.body, redact),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(headers && {
      headers: new Headers([...headers].map(([name, value]): [string, string] => [name, shown(value)])),
    }),
    ...(issues && { issues: issues.map(({ message, path }) => ({ message: shown(message), path })) }),
    ...(cause && { cause }),
  });
  Object.defineProperty(copy, 'stack', { value: shown(error.stack) });
  return copy;
}
