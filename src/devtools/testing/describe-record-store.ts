import type { RecordStore } from '../../store/record-store.ts';
import { testClose, testConcurrentChanges, testExpiry } from './record-store/concurrency.ts';
import type { DefineStoreTest } from './record-store/store-test-context.ts';
import { testAllOrNothing, testList, testReadsAndWrites, testRefusals } from './record-store/values.ts';

/** `describe` and `it` of vitest, `node:test`, `bun:test` or mocha. */
export interface TestRunner {
  /** Opens a group of tests. */
  describe(name: string, define: () => void): unknown;
  /** Defines a test. */
  it(name: string, run: () => Promise<void>): unknown;
}

/** Opens a store for a test. */
export type MakeRecordStore = (options: {
  /** The clock for the store. */
  readonly now: () => number;
  /**
   * Names the data: stores with the same name share their records, others do not. Every run uses new names. A store
   * in one process may return the same object for the same name.
   */
  readonly data: string;
}) => RecordStore | Promise<RecordStore>;

/**
 * Tests your own {@link RecordStore} against the contract of record stores.
 *
 * @param runner the `describe` and `it` of your test runner
 * @param make called several times in a test; every store that it returns is closed afterwards
 * @example
 * ```ts
 * import { describe, it } from 'node:test';
 *
 * describeRecordStore({ describe, it }, ({ now, data }) => myStore({ now, table: `records_${data}` }));
 * ```
 */
export function describeRecordStore({ describe, it }: TestRunner, make: MakeRecordStore): void {
  const test: DefineStoreTest = (name, run) => {
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
