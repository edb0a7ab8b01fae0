import { isWholeProcess } from '../runtime/whole-process.ts';

/** A place among the requests under way, for the attempts of one call. */
export interface Place {
  /** Takes one if there is one: false if the call has to wait. */
  takeIfFree(): boolean;
  /**
   * Waits until a place is free: first come, first served.
   * @throws the signal's reason when it is aborted while it waits
   */
  take(signal?: AbortSignal): Promise<void>;
  /** Gives the place back, or stops waiting for one. Does nothing if there is neither. */
  leave(): void;
}

/** Lets so many calls go on at a time. */
export interface ConcurrencyLimit {
  place(): Place;
}

const unlimited: Place = { takeIfFree: () => true, take: async () => {}, leave() {} };

/**
 * There is no limit where the event loop is not the whole process: workerd drops a cancelled request with the place that
 * it has, and nobody would give that back. It limits the connections of a request itself.
 */
export function limitConcurrency(most: number): ConcurrencyLimit {
  if (!isWholeProcess()) return { place: () => unlimited };
  let free = most;
  const waiting = new Set<() => void>();
  // Kept, since a new one would first pass over all that have been deleted: it sees what is added later.
  let queue = waiting.values();

  function giveBack(): void {
    if (waiting.size === 0) free++;
    // Later: Node's fetch takes a turn of the event loop to see that a connection is free, and opens another until then.
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

  function place(): Place {
    let end: (() => void) | undefined;
    const leave = () => {
      const given = end;
      end = undefined;
      given?.();
    };
    const takeIfFree = () => {
      if (free === 0) return false;
      free--;
      end = giveBack;
      return true;
    };
    const take = (signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal?.throwIfAborted();
        if (takeIfFree()) return resolve();
        const stopWaiting = () => {
          waiting.delete(start);
          signal?.removeEventListener('abort', abort);
        };
        const start = () => {
          stopWaiting();
          end = giveBack;
          resolve();
        };
        const abort = () => {
          leave();
          reject(signal?.reason);
        };
        waiting.add(start);
        signal?.addEventListener('abort', abort);
        end = stopWaiting;
      });
    return { takeIfFree, take, leave };
  }

  return { place };
}
