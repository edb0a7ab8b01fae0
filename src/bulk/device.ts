import { isRequestError, outcomeOf, type RequestError } from '../errors/errors.ts';
import { missesAddress } from '../internal/number-refusal.ts';
import type { BulkDevice, BulkSettings } from './bulk-options.ts';
import type { Settled } from './claims.ts';

export type PacedDevice = ReturnType<typeof pacedDevice>;

/** Sends in even steps, however long the messages take. Missed steps are not made up for. */
export function pacedDevice(
  messenger: BulkDevice,
  { messagesPerSecond, now, sleep }: Pick<BulkSettings, 'messagesPerSecond' | 'now' | 'sleep'>,
) {
  const intervalMs = 1000 / messagesPerSecond;
  const time = forwardClock(now);
  let nextAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  return {
    messenger,
    async waitForTurn(signal: AbortSignal): Promise<void> {
      for (;;) {
        const at = Math.max(nextAt, pausedUntil, time());
        nextAt = at + intervalMs;
        if (at > time()) await sleep(at - time(), signal);
        // If a reply has paused the device, it waits for another turn.
        if (signal.aborted || isStopped || pausedUntil <= at) return;
      }
    },
    /** Sends nothing for this long. False if it was paused already: then the reply is to a message sent before that. */
    pause(ms: number): boolean {
      const at = time();
      const isFirst = pausedUntil <= at;
      pausedUntil = Math.max(pausedUntil, at + ms);
      return isFirst;
    },
    /** The service refused its API key: it sends nothing more. */
    stop(): void {
      isStopped = true;
    },
    get isStopped(): boolean {
      return isStopped;
    },
  };
}

/** A clock that stands still while the other is set back, so that nothing waits until it has caught up. */
function forwardClock(now: () => number): () => number {
  let last = now();
  let lost = 0;
  return () => {
    const current = now();
    if (current < last) lost += last - current;
    last = current;
    return current + lost;
  };
}

export interface SendOutcome {
  readonly state: Settled['state'];
  readonly error?: RequestError;
  /**
   * `retry`: the service asked to slow down; nothing was sent. `other-device`: it refuses this device, not the message.
   * `stop`: nothing can be sent at all.
   */
  readonly next?: 'retry' | 'other-device' | 'stop';
  /** False if another message under way was answered 429 as well, and counted. @default true */
  readonly isCounted?: boolean;
  /** The error that ends the run, of `stop`. */
  readonly fatal?: unknown;
}

/** How long a device rests after 429 without `Retry-After`. */
const restMs = 30_000;

/**
 * Pauses or stops the device as the reply asks. Never rejects.
 *
 * @param leftMs what is left of the claim: after it another run may send the message, so this one must not leave
 */
export async function sendRow(
  device: PacedDevice,
  { to_phone, message }: { readonly to_phone: string; readonly message: string },
  leftMs: () => number,
): Promise<SendOutcome> {
  if (leftMs() <= 0) return { state: 'not-sent' };
  try {
    await device.messenger.sendMessage({ to_phone, message }, { leftMs });
    return { state: 'sent' };
  } catch (error) {
    if (isRequestError(error)) return readRefusal(error, device);
    return { state: outcomeOf(error), next: 'stop', fatal: error };
  }
}

function readRefusal(error: RequestError, device: PacedDevice): SendOutcome {
  switch (error.status) {
    case 429: {
      const isFirst = device.pause(error.retryAfterMs ?? restMs);
      return { state: 'not-sent', error, next: 'retry', isCounted: isFirst };
    }
    case 401:
    case 403:
      device.stop();
      return { state: 'not-sent', error, next: 'other-device' };
    case 404:
      // A wrong address says nothing about the number: a later run sends to it.
      return { state: missesAddress(error) ? 'not-sent' : error.outcome, error };
    default:
      return { state: error.outcome, error };
  }
}
