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

export interface SendResult {
  /** `refused`: the service does not take this phone number. */
  readonly outcome: 'sent' | 'not-sent' | 'refused' | 'unknown';
  /** The last device that was tried, by its index in the list. */
  readonly device: number;
  readonly tried: number;
  /** Of the last device. */
  readonly error?: unknown;
}

type Message = Parameters<OtpMessenger['sendMessage']>[0];

export type Devices = ReturnType<typeof makeDevices>;

/** Milliseconds for which a device is left out, unless the service says how long to wait. */
const pauseMs = 60_000;
/** The longest wait that the service can ask for. */
const longestPauseMs = 600_000;

/**
 * Devices take turns. One that refuses for a reason of its own or cannot be reached is left out for a while, and the
 * next one sends the message. After an unknown outcome no other device is tried: the person might get two messages.
 */
export function makeDevices({
  messenger: messengers,
  now,
  isNumberRefusal,
}: {
  readonly messenger: readonly OtpMessenger[];
  readonly now: () => number;
  readonly isNumberRefusal: (error: RequestError) => boolean;
}) {
  const devices = messengers.map((messenger, index) => ({ messenger, index, pausedFrom: 0, pausedUntil: 0 }));
  let nextIndex = 0;

  function candidates() {
    const at = now();
    const first = nextIndex++ % devices.length;
    const inOrder = [...devices.slice(first), ...devices.slice(0, first)];
    // If the clock was set back, a device would be left out for too long.
    const ready = inOrder.filter(({ pausedFrom, pausedUntil }) => at < pausedFrom || at >= pausedUntil);
    // When all are left out, one of them may work again.
    return ready.length > 0 ? ready : inOrder;
  }

  function isAboutNumber(error: unknown): boolean {
    try {
      return isRequestError(error) && isNumberRefusal(error);
    } catch {
      // Without its error, which may quote the service's reply.
      warnOnce('isNumberRefusal failed: the refusal counts as one of the device.');
      return false;
    }
  }

  return {
    async send(message: Message, leftMs: () => number): Promise<SendResult> {
      let last: SendResult = { outcome: 'not-sent', device: 0, tried: 0 };
      for (const device of candidates()) {
        if (leftMs() <= 0) return last;
        const { outcome, error } = await attempt(device.messenger, message, leftMs);
        last = { outcome, device: device.index, tried: last.tried + 1, error };
        if (outcome === 'sent' || outcome === 'unknown') return last;
        if (outcome === 'refused' && isAboutNumber(error)) return last;
        last = { ...last, outcome: 'not-sent' };
        // The code has expired, which is not the fault of the device.
        if (leftMs() <= 0) return last;
        const asked = isRequestError(error) ? error.retryAfterMs : undefined;
        device.pausedFrom = now();
        device.pausedUntil = device.pausedFrom + Math.min(asked ?? pauseMs, longestPauseMs);
      }
      return last;
    },
  };
}

async function attempt(
  messenger: OtpMessenger,
  message: Message,
  leftMs: () => number,
): Promise<Pick<SendResult, 'outcome' | 'error'>> {
  try {
    await messenger.sendMessage(message, { leftMs });
    return { outcome: 'sent' };
  } catch (error) {
    return { outcome: outcomeOf(error), error };
  }
}
