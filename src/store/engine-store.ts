import { StoreError } from '../errors/errors.ts';
import { checkListOptions, checkRecordKeys } from './apply-change.ts';
import type { ListRecordsOptions, RecordSet, RecordStore, StoredRecord } from './record-store.ts';

/** What one kind of store does; what it gets is checked. */
interface StoreEngine {
  transact<Result>(keys: readonly string[], change: (records: RecordSet) => Result): Promise<Result>;
  list(options: ListRecordsOptions): Promise<StoredRecord[]>;
  /** Runs after each transaction that succeeded. Only `close` waits for it, and its errors are dropped. */
  tidy?(): Promise<unknown>;
  close?(): void;
}

/** A store that checks what it is asked, and that refuses with `store_closed` once it is closed. */
export function engineStore(engine: StoreEngine): RecordStore {
  const { tidy } = engine;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing !== undefined) throw new StoreError('store_closed', 'The record store was closed.');
    const begun = work();
    running.add(begun);
    try {
      return await begun;
    } finally {
      running.delete(begun);
    }
  }

  return {
    async transact(keys, change) {
      const result = await run(async () => await engine.transact(checkRecordKeys(keys), change));
      if (tidy !== undefined) run(tidy).catch(() => {});
      return result;
    },
    list: (options) => run(async () => await engine.list(checkListOptions(options))),
    close() {
      closing ??= Promise.allSettled(running).then(() => engine.close?.());
      return closing;
    },
  };
}
