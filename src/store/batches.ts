import { sleep } from '../internal/backoff.ts';
import { settledWithin } from '../internal/deadline.ts';
import { isWholeProcess } from '../internal/runtime.ts';

export interface BatchOptions {
  /** Items of one batch. */
  readonly maxItems: number;
  /** Batches under way at a time. */
  readonly concurrency: number;
  /** Milliseconds after which a batch that has not ended lets the next one start. */
  readonly slowAfterMs: number;
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work for many items at once: a batch holds the items of one turn of the event loop and those that arrived
 * while earlier batches ran. If a batch fails, its items are tried again one by one, so the work may be done twice
 * for an item. On workerd, where requests cannot share work, each item is a batch.
 *
 * @param work resolves with one result for each item, in their order: an Error for one that failed by itself
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
  { maxItems, concurrency, slowAfterMs }: BatchOptions,
) {
  const waiting: Pending<Item, Result>[] = [];
  const underWay = new Set<Promise<void>>();
  const mayShare = isWholeProcess();

  function start(): void {
    while (underWay.size < concurrency && waiting.length > 0) {
      const done = settledWithin([run(waiting.splice(0, maxItems))], slowAfterMs).then(() => {
        underWay.delete(done);
        start();
      });
      underWay.add(done);
    }
  }

  async function run(batch: readonly Pending<Item, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result instanceof Error) reject(result);
        // Sound: there is a result for each item.
        else resolve(result as Result);
      }
    } catch (error) {
      if (batch.length > 1) for (const one of batch) await run([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return {
    add: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (!mayShare) void run([{ item, resolve, reject }]);
        else if (waiting.push({ item, resolve, reject }) === 1) setImmediate(start);
      }),
    /** Resolves when only slow batches are under way. */
    async drain(): Promise<void> {
      // Callers may add an item a few promises later in this turn.
      await sleep(0);
      start();
      while (underWay.size > 0) await Promise.race(underWay);
    },
  };
}
