import type { Sleep } from '../runtime/sleep.ts';
import type { BulkDevice } from './bulk-options.ts';

/** A device, its pace, and whether it may send. */
export interface PacedDevice {
  readonly messenger: BulkDevice;
  /** Waits until the device may send the next message, or until the signal is aborted. */
  turn(signal: AbortSignal): Promise<void>;
  /** Sends nothing for so long. False if it was pausing already: then this is a reply to what was under way. */
  pause(ms: number): boolean;
  /** The service refused its API key: it sends nothing more. */
  stop(): void;
  readonly isStopped: boolean;
}

/** Hands out turns in even steps, whatever the messages themselves take. What was missed is not made up for. */
export function pacedDevice(
  messenger: BulkDevice,
  {
    intervalMs,
    now,
    sleep,
  }: { readonly intervalMs: number; readonly now: () => number; readonly sleep: Sleep },
): PacedDevice {
  const time = forwardClock(now);
  let nextAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  return {
    messenger,
    async turn(signal) {
      for (;;) {
        const at = Math.max(nextAt, pausedUntil, time());
        nextAt = at + intervalMs;
        if (at > time()) await sleep(at - time(), signal);
        // A reply may have paused the device meanwhile: then this turn is lost, and another one is due.
        if (signal.aborted || isStopped || pausedUntil <= at) return;
      }
    },
    pause(ms) {
      const at = time();
      const isFirst = pausedUntil <= at;
      pausedUntil = Math.max(pausedUntil, at + ms);
      return isFirst;
    },
    stop() {
      isStopped = true;
    },
    get isStopped() {
      return isStopped;
    },
  };
}

/** A clock that stands still while the other one is set back: nobody waits until it has caught up. */
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
