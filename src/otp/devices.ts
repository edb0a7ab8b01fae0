import { isConfigurationError } from '../errors/configuration-error.ts';
import { isRequestError, type RequestError } from '../errors/request-error.ts';
import { isValidationError } from '../errors/validation-error.ts';
import { warnOnce } from '../errors/warn.ts';

/** What sends the messages: a `MessengerClient`, or anything that does what its `sendMessage` does. */
export interface OtpMessenger {
  /**
   * Resolves when the service took the message. An error that is no `RequestError` of this package counts as `unknown`:
   * the message may have left.
   */
  sendMessage(message: { readonly to_phone: string; readonly message: string }): Promise<unknown>;
}

/** What became of a message. */
export interface Delivery {
  /** `refused`: the service does not take this phone number. */
  readonly outcome: 'sent' | 'not-sent' | 'refused' | 'unknown';
  /** The device that decided it, by its place in the list. */
  readonly device: number;
  /** Of the last device. */
  readonly error?: unknown;
}

export interface Devices {
  send(message: { readonly to_phone: string; readonly message: string }): Promise<Delivery>;
}

/** How long a device is left out, unless the service says how long to wait. */
const pauseMs = 60_000;
/** However long the service says. */
const longestPauseMs = 600_000;

/**
 * Sends each message through the next device. One that refuses for a reason of its own (a wrong key, not connected, too
 * many messages) or is not reached is left out for a while, and the message goes to the next one: it has certainly not
 * left. After an unknown outcome nothing else is tried, or the person might get two.
 */
export function makeDevices(
  messengers: readonly OtpMessenger[],
  { now, isNumberRefusal }: { now: () => number; isNumberRefusal: (error: RequestError) => boolean },
): Devices {
  const devices = messengers.map((messenger, place) => ({ messenger, place, pausedFrom: 0, pausedUntil: 0 }));
  let next = 0;

  function candidates() {
    const at = now();
    const first = next++ % devices.length;
    const inTurn = [...devices.slice(first), ...devices.slice(0, first)];
    // Without the lower bound, a clock that is set back would leave a device out for too long.
    const ready = inTurn.filter(({ pausedFrom, pausedUntil }) => at < pausedFrom || at >= pausedUntil);
    // When all are left out, one of them may still work again.
    return ready.length > 0 ? ready : inTurn;
  }

  function isAboutNumber(error: unknown): boolean {
    try {
      return isRequestError(error) && isNumberRefusal(error);
    } catch {
      // Without its error, which may hold what the service said.
      warnOnce('isNumberRefusal failed: the refusal counts as one of the device.');
      return false;
    }
  }

  return {
    async send(message) {
      let last: Delivery = { outcome: 'not-sent', device: 0 };
      for (const device of candidates()) {
        const { outcome, error } = await attempt(device.messenger, message);
        last = { outcome, device: device.place, error };
        if (outcome === 'sent' || outcome === 'unknown') return last;
        if (outcome === 'refused' && isAboutNumber(error)) return last;
        last = { ...last, outcome: 'not-sent' };
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
  message: { readonly to_phone: string; readonly message: string },
): Promise<{ outcome: Delivery['outcome']; error?: unknown }> {
  try {
    await messenger.sendMessage(message);
    return { outcome: 'sent' };
  } catch (error) {
    if (isRequestError(error)) return { outcome: error.outcome, error };
    // The client throws these before it sends anything.
    if (isConfigurationError(error) || isValidationError(error)) return { outcome: 'not-sent', error };
    return { outcome: 'unknown', error };
  }
}
