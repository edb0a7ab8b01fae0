import { inspect } from 'node:util';
import {
  isPartnerExchangeError,
  isRequestError,
  OtpError,
  outcomeOf,
  type PartnerExchangeError,
  partsOf,
  type RequestError,
} from '../errors/errors.ts';
import { redactError } from '../internal/driver-error.ts';
import { repeatsOf } from '../internal/echoed-secrets.ts';
import { hidden, redactCredentials } from '../internal/redact-credentials.ts';
import { warnOnce } from '../internal/warn.ts';

/** Sends the messages: a `MessengerClient`, or anything with a `sendMessage` like its own. */
export interface OtpMessenger {
  /**
   * Resolves when the service took the message. An error other than a `RequestError` of this package counts as `unknown`:
   * the message may have left.
   *
   * @param options `leftMs`: for how long the code is still valid; a message must not leave after that
   */
  sendMessage(
    message: { readonly to_phone: string; readonly message: string },
    options?: { readonly leftMs?: () => number },
  ): Promise<unknown>;
}

interface MessengerSettings {
  readonly messenger: OtpMessenger;
  readonly isNumberRefusal: (error: RequestError) => boolean;
}

export interface SendResult {
  /** `refused`: the service does not take this phone number. */
  readonly outcome: 'sent' | 'not-sent' | 'refused' | 'unknown';
  readonly error?: unknown;
}

/** Sends a message while its code is valid. A refusal for a reason of the device is `not-sent`. */
export async function sendMessage(
  { messenger, isNumberRefusal }: MessengerSettings,
  message: Parameters<OtpMessenger['sendMessage']>[0],
  leftMs: () => number,
): Promise<SendResult> {
  if (leftMs() <= 0) return { outcome: 'not-sent' };
  try {
    await messenger.sendMessage(message, { leftMs });
    return { outcome: 'sent' };
  } catch (error) {
    const outcome = outcomeOf(error);
    const isOfDevice = outcome === 'refused' && !(isRequestError(error) && isAboutNumber(error));
    return { outcome: isOfDevice ? 'not-sent' : outcome, error };
  }

  function isAboutNumber(error: RequestError): boolean {
    try {
      return isNumberRefusal(error);
    } catch {
      // Without its error, which may quote the service's reply.
      warnOnce('isNumberRefusal failed: the refusal counts as one of the device.');
      return false;
    }
  }
}

/** Longer than any message of our clients; another messenger's may be of any length. */
const maxReason = 1_000;

/**
 * The error for a message that was not sent or refused. It gives the reason of the messenger's error, which is its cause:
 * of both, what repeats a secret is hidden.
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
  const repeats = repeatsOf(secrets);
  const shown = (text: string) => (repeats(text) ? hidden : redactCredentials(text));
  const { what, remedy } = partsOf(error);
  const reason = shown(what).slice(0, maxReason);
  const details = {
    // Its own advice knows more than our table.
    remedy: shown(remedy) || undefined,
    cause: isClean(error, repeats) ? error : redactError(error, secrets),
  };
  if (outcome === 'refused') {
    const refusal = { ...details, member: 'to_phone' } as const;
    return new OtpError('refused', `The service does not take this phone number: ${reason}`, refusal);
  }
  const { retryAfterMs } = error;
  return new OtpError('not_sent', `The device did not send the code: ${reason}`, {
    ...details,
    retryAfterMs,
  });
}

/** Whether no secret is in what an error shows, in its causes, or in the body and the headers that it does not print. */
function isClean(error: PartnerExchangeError, repeats: (text: string) => boolean): boolean {
  const whole = { showHidden: true, depth: Infinity, maxArrayLength: null, maxStringLength: null };
  try {
    return !repeats(inspect(error, { ...whole, breakLength: Infinity }));
  } catch {
    return false;
  }
}
