import { type Deadline, withDeadline } from '../internal/deadline.ts';
import { isWholeProcess } from '../internal/runtime.ts';

export interface Slot {
  /**
   * Takes a slot, or waits until one is free: first come, first served.
   * @throws `tooLate`, or the signal's reason, when it has to wait and that comes first
   */
  take(deadline: Deadline): Promise<void>;
  /** Gives the slot back, or stops waiting for one. Does nothing if there is neither. */
  release(): void;
}

export type Slots = ReturnType<typeof limitConcurrency>;

/**
 * Limits how many calls go on at a time. Not on workerd, which limits the connections of a request itself, and drops
 * a cancelled request without releasing its slot.
 */
export function limitConcurrency(most: number): { slot(): Slot } {
  if (!isWholeProcess()) return { slot: () => ({ take: async () => {}, release() {} }) };
  let free = most;
  const waiting = new Set<() => void>();
  // One lasting iterator: a new one would first pass over all deleted entries.
  let queue = waiting.values();

  function giveBack(): void {
    if (waiting.size === 0) free++;
    // In the next turn of the event loop: until then Node's fetch does not see the free connection and opens another.
    else setTimeout(startNext, 0);
  }

  function startNext(): void {
    let next = queue.next();
    if (next.done) {
      queue = waiting.values();
      next = queue.next();
    }
    if (next.done) free++;
    else next.value();
  }

  function slot(): Slot {
    let end: (() => void) | undefined;
    const release = () => {
      const ending = end;
      end = undefined;
      ending?.();
    };
    const wait = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const start = () => {
          waiting.delete(start);
          end = giveBack;
          resolve();
        };
        waiting.add(start);
        end = () => waiting.delete(start);
        signal.addEventListener('abort', release);
      });
    return {
      async take(deadline) {
        deadline.signal?.throwIfAborted();
        if (free === 0) return await withDeadline(deadline, wait);
        free--;
        end = giveBack;
      },
      release,
    };
  }

  return { slot };
}
