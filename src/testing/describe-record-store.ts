import type { RecordStore } from '../store/record-store.ts';
import { testClose, testConcurrentChanges, testExpiry } from './record-store/concurrency.ts';
import type { DefineTest } from './record-store/test-context.ts';
import { testAllOrNothing, testList, testReadsAndWrites, testRefusals } from './record-store/values.ts';

/** `describe` and `it` of vitest, `node:test`, `bun:test` or mocha. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
}

/** Opens a store for a test. */
export type MakeRecordStore = (options: {
  /** The clock that the store has to use. */
  readonly now: () => number;
  /**
   * Names the data: stores made with the same name see the same records, those with different names do not. Each run
   * has names of its own. A store that lives in one process may return the same object for the same name.
   */
  readonly data: string;
}) => RecordStore | Promise<RecordStore>;

/**
 * The contract of a {@link RecordStore} as a test suite: for a store of your own.
 *
 * @param runner the `describe` and `it` of your test runner
 * @param make is called several times a test; every store that it returns is closed afterwards
 * @example
 * ```ts
 * import { describe, it } from 'node:test';
 *
 * describeRecordStore({ describe, it }, ({ now, data }) => myStore({ now, table: `records_${data}` }));
 * ```
 */
export function describeRecordStore({ describe, it }: TestRunner, make: MakeRecordStore): void {
  const test: DefineTest = (name, run) => {
    it(name, async () => {
      const stores = new Set<RecordStore>();
      const data = globalThis.crypto.randomUUID().replaceAll('-', '');
      const clock = { now: 1_700_000_000_000 };
      const open = async (part = '') => {
        const store = await make({ now: () => clock.now, data: data + part });
        stores.add(store);
        return store;
      };
      try {
        await run({ store: await open(), open, clock });
      } finally {
        for (const store of stores) await store.close();
      }
    });
  };

  describe('reads and writes', () => testReadsAndWrites(test));
  describe('all or nothing', () => testAllOrNothing(test));
  describe('changes at the same time', () => testConcurrentChanges(test));
  describe('expiry', () => testExpiry(test));
  describe('list', () => testList(test));
  describe('refuses', () => testRefusals(test));
  describe('close', () => testClose(test));
}
