import { isWholeProcess } from '../internal/runtime.ts';
import { nothingWritten } from './limited-calls.ts';

/** Runs work once all earlier work on any of its keys is done. */
export type KeyQueue = <Result>(keys: readonly string[], work: () => Promise<Result>) => Promise<Result>;

/**
 * Lets changes of one key wait for each other within this process, instead of racing in the engine. Work queues for
 * all its keys at once, so there is no deadlock.
 *
 * @param longestWaitMs work that has waited for longer is rejected: while an engine hangs, the time limits of all who
 *   wait for one key would add up
 */
export function keyQueue(longestWaitMs = Number.POSITIVE_INFINITY): KeyQueue {
  const last = new Map<string, Promise<void>>();
  return async (keys, work) => {
    const askedAt = performance.now();
    const earlier = keys.map((key) => last.get(key));
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    for (const key of keys) last.set(key, done);
    await Promise.all(earlier);
    try {
      if (performance.now() - askedAt >= longestWaitMs)
        throw nothingWritten(new Error(`Earlier changes of the same keys took ${longestWaitMs} ms.`));
      return await work();
    } finally {
      for (const key of keys) if (last.get(key) === done) last.delete(key);
      finish();
    }
  };
}

/**
 * A queue that requests share. On workerd nothing waits here: a cancelled request never ends its work, and later ones
 * would wait for ever.
 */
export function sharedKeyQueue(longestWaitMs?: number): KeyQueue {
  return isWholeProcess() ? keyQueue(longestWaitMs) : (_, work) => work();
}
