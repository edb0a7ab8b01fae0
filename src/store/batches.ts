import { sleep } from '../internal/backoff.ts';
import { settledWithin } from '../internal/deadline.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import type { RecordSet, RecordStore } from './record-store.ts';

interface PendingChange {
  readonly keys: readonly string[];
  readonly change: (records: RecordSet) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A change of more keys is a transaction of its own. */
const fewKeys = 5;
/** A transaction has up to 1,000 keys. */
const mostChanges = 100;
const mostUnderWay = 2;

/** Stores that wait for no lock, or whose changes share a commit already: a batch above them costs CPU and saves nothing. */
const fastStores = new WeakSet<RecordStore>();

export function withoutBatches(store: RecordStore): RecordStore {
  fastStores.add(store);
  return store;
}

/**
 * A store whose changes of few keys share a transaction with those of the same turn of the event loop, and with those that
 * came while earlier batches ran. If a batch fails, each of its changes is tried again alone. Its `close` waits for changes
 * that have begun, and leaves the store open. On workerd, where requests cannot share work, nothing is shared.
 *
 * @param options.slowAfterMs milliseconds after which a batch lets the next one start, and none of it is tried again
 */
export function storeInBatches(
  store: RecordStore,
  { slowAfterMs }: { readonly slowAfterMs: number },
): RecordStore {
  const waiting: PendingChange[] = [];
  const underWay = new Set<Promise<void>>();
  const mostKeys = fastStores.has(store) || !isWholeProcess() ? 0 : fewKeys;

  function start(): void {
    while (underWay.size < mostUnderWay && waiting.length > 0) {
      const done = settledWithin([run(waiting.splice(0, mostChanges))], slowAfterMs).then(() => {
        underWay.delete(done);
        start();
      });
      underWay.add(done);
    }
  }

  async function run(batch: readonly PendingChange[]): Promise<void> {
    const begun = performance.now();
    const keys = batch.flatMap((pending) => pending.keys);
    try {
      const results = await store.transact(keys, (records) => batch.map(({ change }) => change(records)));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      const isLate = performance.now() - begun >= slowAfterMs;
      if (batch.length === 1 || isLate) for (const { reject } of batch) reject(error);
      // Side by side: one of them may wait for another program.
      else await Promise.all(batch.map((pending) => run([pending])));
    }
  }

  return {
    async transact<Result>(keys: readonly string[], change: (records: RecordSet) => Result): Promise<Result> {
      if (keys.length > mostKeys) return await store.transact(keys, change);
      const result = new Promise((resolve, reject) => {
        if (waiting.push({ keys, change, resolve, reject }) === 1) setImmediate(start);
      });
      // Sound: each pending change gets what it returned.
      return (await result) as Result;
    },
    list: (options) => store.list(options),
    async close() {
      // Callers may add a change a few promises later in this turn.
      await sleep(0);
      start();
      while (underWay.size > 0) await Promise.race(underWay);
    },
  };
}
