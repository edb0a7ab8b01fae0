import { isWholeProcess } from '../../internal/runtime.ts';

/**
 * The turns of the messages of one process: many run side by side, or one runs alone.
 *
 * A message waits for its turn here. If it went back to the queue instead, a busy process would never be free for it, and
 * the queue would count a delivery each time.
 */
export function messageTurns() {
  const running = new Set<Promise<unknown>>();
  let alone: Promise<unknown> | undefined;
  // On workerd no request can wait for another one.
  const mayWait = isWholeProcess();

  return {
    /** Runs a message once none is alone; `undefined` if it cannot wait for that. */
    async sideBySide<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
      while (alone !== undefined) {
        if (!mayWait) return undefined;
        await Promise.allSettled([alone]);
      }
      const work = run();
      running.add(work);
      try {
        return await work;
      } finally {
        running.delete(work);
      }
    },

    /** Runs a message by itself, once the running ones have ended; `undefined` if it cannot wait for that. */
    async alone<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
      if (!mayWait && (alone !== undefined || running.size > 0)) return undefined;
      while (alone !== undefined) await Promise.allSettled([alone]);
      const work = Promise.allSettled(running).then(run);
      alone = work;
      try {
        return await work;
      } finally {
        alone = undefined;
      }
    },
  };
}
