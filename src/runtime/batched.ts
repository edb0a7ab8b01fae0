import { settledWithin } from './settled-within.ts';
import { isWholeProcess } from './whole-process.ts';

export interface BatchOptions {
  /** Items of one batch. */
  readonly most: number;
  /** Batches under way at a time. */
  readonly atOnce: number;
  /** Milliseconds after which a batch that has not ended lets the next one start. */
  readonly patienceMs: number;
}

export interface Batched<Item, Result> {
  /** Resolves with the result of this item, or rejects with its own failure. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits or is under way, except what was out of time. */
  drain(): Promise<void>;
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work for many items at once, which costs a server little more than for one: for those that come in one turn of
 * the event loop, and for those that come while earlier batches are under way. If a batch fails, its items are done
 * again one by one, so that one bad item does not fail its neighbours: the work may be done twice for an item. Where a
 * request must not wait for the work of another one, each item is done by itself.
 *
 * @param work resolves with one result for each item, in their order: an Error for one that failed by itself
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
  { most, atOnce, patienceMs }: BatchOptions,
): Batched<Item, Result> {
  const waiting: Pending<Item, Result>[] = [];
  const underWay = new Set<Promise<void>>();
  const mayShare = isWholeProcess();

  function start(): void {
    while (underWay.size < atOnce && waiting.length > 0) {
      const done = settledWithin([run(waiting.splice(0, most))], patienceMs).then(() => {
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
    add: (item) =>
      new Promise((resolve, reject) => {
        if (!mayShare) void run([{ item, resolve, reject }]);
        else if (waiting.push({ item, resolve, reject }) === 1) setImmediate(start);
      }),
    async drain() {
      // Callers may add an item a few promises later in this turn.
      await new Promise((resolve) => setTimeout(resolve, 0));
      start();
      while (underWay.size > 0) await Promise.race(underWay);
    },
  };
}
