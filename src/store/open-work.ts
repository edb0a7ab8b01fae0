import { StoreError } from '../errors/store-error.ts';

/** What a store does, until it is closed. */
export interface OpenWork {
  /** @throws {StoreError} `store_closed` */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Refuses further work, and waits for what has begun. */
  close(): Promise<void>;
}

export function openWork(): OpenWork {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    async run(work) {
      if (isClosed) throw new StoreError('store_closed', 'The record store was closed.');
      const begun = work();
      running.add(begun);
      try {
        return await begun;
      } finally {
        running.delete(begun);
      }
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(running);
    },
  };
}
