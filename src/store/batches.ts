import { sleep } from '../internal/backoff.ts';
import { settledWithin } from '../internal/deadline.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import type { RecordSet, RecordStore } from './record-store.ts';

export interface BatchOptions {
  /** Items of one batch. */
  readonly maxItems: number;
  /** Batches under way at a time. */
  readonly concurrency: number;
  /** Milliseconds after which a batch lets the next one start, and none of its items is tried again. */
  readonly slowAfterMs: number;
}

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work for many items at once: a batch holds the items of one turn of the event loop and those that arrived
 * while earlier batches ran. If a batch fails, each of its items is tried again alone, so the work may be done twice
 * for an item. On workerd, where requests cannot share work, each item is a batch.
 *
 * @param work resolves with one result for each item, in their order
 */
export function batched<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
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
    const begun = performance.now();
    try {
      const results = await work(batch.map(({ item }) => item));
      // Sound: there is a result for each item.
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      const isLate = performance.now() - begun >= slowAfterMs;
      if (batch.length === 1 || isLate) for (const { reject } of batch) reject(error);
      // Side by side: one of them may wait for another program.
      else await Promise.all(batch.map((pending) => run([pending])));
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

interface Change {
  readonly keys: readonly string[];
  readonly change: (records: RecordSet) => unknown;
}

/** A change of more keys is a transaction of its own. */
const fewKeys = 5;
/** A transaction has up to 1,000 keys. */
const batchBounds = { maxItems: 100, concurrency: 2 };

/** Stores that wait for nobody, or whose changes share a commit already: a batch above them costs CPU and saves nothing. */
const fastStores = new WeakSet<RecordStore>();

export function withoutBatches(store: RecordStore): RecordStore {
  fastStores.add(store);
  return store;
}

/**
 * A store whose changes of few keys share a transaction with those that come meanwhile; if one fails, each is tried
 * alone. Its `close` waits for changes that have begun, and leaves the store open.
 *
 * @param slowAfterMs lets the next transaction start after this many milliseconds
 */
export function storeInBatches(
  store: RecordStore,
  { slowAfterMs }: Pick<BatchOptions, 'slowAfterMs'>,
): RecordStore {
  const changes = batched<Change, unknown>(
    (items) => {
      const keys = items.flatMap((item) => item.keys);
      return store.transact(keys, (records) => items.map(({ change }) => change(records)));
    },
    { ...batchBounds, slowAfterMs },
  );
  const mostKeys = fastStores.has(store) ? 0 : fewKeys;
  return {
    async transact<Result>(keys: readonly string[], change: (records: RecordSet) => Result): Promise<Result> {
      if (keys.length > mostKeys) return await store.transact(keys, change);
      // Sound: each item gets what its own change returned.
      return (await changes.add({ keys, change })) as Result;
    },
    list: (options) => store.list(options),
    close: () => changes.drain(),
  };
}
