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

  async function runSideBySide<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
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
  }

  async function runAlone<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
    if (!mayWait && (alone !== undefined || running.size > 0)) return undefined;
    while (alone !== undefined) await Promise.allSettled([alone]);
    const work = Promise.allSettled(running).then(run);
    alone = work;
    try {
      return await work;
    } finally {
      alone = undefined;
    }
  }

  /** Runs a message once none is alone, and by itself if it answers `alone`; `undefined` if it cannot wait for that. */
  return async <Result>(run: (isAlone: boolean) => Promise<Result>): Promise<Result | undefined> => {
    const result = await runSideBySide(() => run(false));
    return result === 'alone' ? await runAlone(() => run(true)) : result;
  };
}
