import { isRequestError, outcomeOf, type RequestError } from '../errors/errors.ts';
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
  settings: MessengerSettings,
  message: Parameters<OtpMessenger['sendMessage']>[0],
  leftMs: () => number,
): Promise<SendResult> {
  if (leftMs() <= 0) return { outcome: 'not-sent' };
  try {
    await settings.messenger.sendMessage(message, { leftMs });
    return { outcome: 'sent' };
  } catch (error) {
    const outcome = outcomeOf(error);
    return {
      outcome: outcome === 'refused' && !isAboutNumber(error, settings) ? 'not-sent' : outcome,
      error,
    };
  }
}

function isAboutNumber(
  error: unknown,
  { isNumberRefusal }: Pick<MessengerSettings, 'isNumberRefusal'>,
): boolean {
  try {
    return isRequestError(error) && isNumberRefusal(error);
  } catch {
    // Without its error, which may quote the service's reply.
    warnOnce('isNumberRefusal failed: the refusal counts as one of the device.');
    return false;
  }
}
