import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { JsonValue } from '../json/json-value.ts';
import type { RecordStore, StoredRecord } from '../store/record-store.ts';

/** What a suite needs of a test runner: that of vitest, `node:test`, `bun:test`, or `describe` and `it` of mocha. */
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
  /** Runs a test with stores that are closed at its end, and with a clock that only the test moves. */
  function test(name: string, run: (context: TestContext) => Promise<void>): void {
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
  }

  describe('reads and writes', () => {
    test('a key without a record has no value', async ({ store }) => {
      equal(await read(store, 'nothing'), undefined);
    });

    test('returns what the change returns, after writing what it set', async ({ store }) => {
      const result = await store.transact(['a'], (records) => {
        records.set('a', { count: 1 });
        return 'done';
      });
      equal(result, 'done');
      deepEqual(await read(store, 'a'), { count: 1 });
    });

    test('a change that only reads writes nothing', async ({ store }) => {
      await store.transact(['a', 'b'], (records) => records.set('a', 1));
      await store.transact(['a', 'b'], (records) => [records.get('a'), records.get('b')]);
      deepEqual(await listAll(store), [{ key: 'a', value: 1 }]);
    });

    test('sets, replaces and deletes several records at once', async ({ store }) => {
      await store.transact(['a', 'b', 'c'], (records) => {
        for (const key of ['a', 'b']) records.set(key, key);
      });
      await store.transact(['a', 'b', 'c'], (records) => {
        records.set('a', 'changed');
        records.delete('b');
        records.delete('c');
        records.set('c', 'new');
      });
      deepEqual(await listAll(store), [
        { key: 'a', value: 'changed' },
        { key: 'c', value: 'new' },
      ]);
    });

    test('a change sees what it has set and deleted itself', async ({ store }) => {
      await write(store, 'a', 1);
      const seen = await store.transact(['a', 'b'], (records) => {
        records.delete('a');
        records.set('b', 2);
        const values = [records.get('a'), records.get('b')];
        records.set('a', 3);
        return [...values, records.get('a')];
      });
      deepEqual(seen, [undefined, 2, 3]);
    });

    test('a key that is named twice is one key', async ({ store }) => {
      await store.transact(['a', 'a'], (records) => records.set('a', 1));
      equal(await read(store, 'a'), 1);
    });

    test('values are copies', async ({ store }) => {
      const value = { list: [1] };
      await store.transact(['a'], (records) => {
        records.set('a', value);
        value.list.push(2);
        // Sound: it is what was set above.
        (records.get('a') as typeof value).list.push(3);
      });
      deepEqual(await read(store, 'a'), { list: [1] });
    });

    test('keeps every JSON value as it is', async ({ store }) => {
      const values: JsonValue[] = [
        null,
        true,
        '',
        'é 😀 \u0000 \ud800 " \\ \u2028',
        [0, 1.5, -1e-7, 9007199254740991, 1e300],
        [],
        JSON.parse('{"__proto__":{"a":1},"constructor":null,"":0,"1":"first","b":[{}]}'),
        'x'.repeat(900_000),
      ];
      await store.transact(
        values.map((_, index) => `v${index}`),
        (records) => {
          for (const [index, value] of values.entries()) records.set(`v${index}`, value);
        },
      );
      for (const [index, value] of values.entries()) deepEqual(await read(store, `v${index}`), value);
    });

    test('keys have any printable ASCII character and up to 512 of them', async ({ store }) => {
      const printable = Array.from({ length: 0x7e - 0x20 }, (_, index) => String.fromCharCode(0x21 + index));
      const keys = [...printable, '__proto__', 'k'.repeat(512), 'a\'b"c\\d%e_f*g?h[i]j{k}l:m'];
      await store.transact(keys, (records) => {
        for (const key of keys) records.set(key, key);
      });
      for (const key of keys) equal(await read(store, key), key);
      deepEqual(
        (await listAll(store)).map(({ key }) => key),
        keys.toSorted(),
      );
    });

    test('changes 1,000 records in one transaction', async ({ store }) => {
      const keys = Array.from({ length: 1000 }, (_, index) => `k${index}`);
      await store.transact(keys, (records) => {
        for (const key of keys) records.set(key, 1);
      });
      const sum = await store.transact(keys, (records) =>
        keys.reduce((total, key) => total + Number(records.get(key)), 0),
      );
      equal(sum, 1000);
    });

    test('another store of the same data sees what was written, one of other data does not', async ({
      store,
      open,
    }) => {
      await write(store, 'a', 1);
      equal(await read(await open(), 'a'), 1);
      equal(await read(await open('other'), 'a'), undefined);
      deepEqual(await listAll(await open('other')), []);
    });
  });

  describe('all or nothing', () => {
    test('a change that throws writes nothing and rejects with its error', async ({ store }) => {
      const error = new Error('no');
      await write(store, 'a', 1);
      await rejects(
        store.transact(['a', 'b'], (records) => {
          records.set('a', 2);
          records.set('b', 2);
          throw error;
        }),
        (thrown) => thrown === error,
      );
      deepEqual(await listAll(store), [{ key: 'a', value: 1 }]);
      // The keys are free again.
      await write(store, 'a', 3);
      equal(await read(store, 'a'), 3);
    });

    test('a refused value writes nothing', async ({ store }) => {
      await rejects(
        store.transact(['a', 'b'], (records) => {
          records.set('a', 2);
          records.set('b', Number.NaN);
        }),
        { code: 'invalid_option' },
      );
      deepEqual(await listAll(store), []);
    });

    test('a change that returns a promise is refused', async ({ store }) => {
      await rejects(
        store.transact(['a'], async (records) => records.set('a', 1)),
        { code: 'invalid_option' },
      );
      equal(await read(store, 'a'), undefined);
    });
  });

  describe('changes at the same time', () => {
    test('1,000 changes of one key lose none', async ({ store }) => {
      await Promise.all(Array.from({ length: 1000 }, () => increment(store, 'count')));
      equal(await read(store, 'count'), 1000);
    });

    test('changes from three stores lose none', async ({ store, open }) => {
      const stores = [store, await open(), await open()];
      await Promise.all(Array.from({ length: 150 }, (_, index) => increment(pick(stores, index), 'count')));
      equal(await read(store, 'count'), 150);
    });

    test('of many that find no record, one creates it', async ({ store, open }) => {
      const stores = [store, await open(), await open()];
      const winners = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          pick(stores, index).transact(['claim'], (records) => {
            if (records.get('claim') !== undefined) return false;
            records.set('claim', index);
            return true;
          }),
        ),
      );
      equal(winners.filter((won) => won).length, 1);
      equal(await read(store, 'claim'), winners.indexOf(true));
    });

    test('a record that was only read holds until the commit', async ({ store, open }) => {
      // Each may take the last shift only while the other one is on duty.
      const stores = [store, await open()];
      for (let round = 0; round < 20; round++) {
        const keys = [`${round}/a`, `${round}/b`];
        await store.transact(keys, (records) => {
          for (const key of keys) records.set(key, 'on');
        });
        await Promise.all(
          keys.map((own, index) =>
            pick(stores, index).transact(keys, (records) => {
              if (keys.every((key) => records.get(key) === 'on')) records.set(own, 'off');
            }),
          ),
        );
        const left = (await listAll(store, `${round}/`)).filter(({ value }) => value === 'on');
        equal(left.length, 1);
      }
    });

    test('transfers between overlapping keys keep the sum and never block each other', async ({
      store,
      open,
    }) => {
      const stores = [store, await open()];
      const accounts = ['a', 'b', 'c', 'd'];
      await store.transact(accounts, (records) => {
        for (const key of accounts) records.set(key, 100);
      });
      await Promise.all(
        Array.from({ length: 120 }, (_, index) => {
          const from = pick(accounts, index);
          const to = pick(accounts, index + 1 + (index % 3));
          return pick(stores, index).transact([from, to], (records) => {
            records.set(from, Number(records.get(from)) - 1);
            records.set(to, Number(records.get(to)) + 1);
          });
        }),
      );
      const values = (await listAll(store)).map(({ value }) => Number(value));
      equal(
        values.reduce((sum, value) => sum + value),
        400,
      );
    });

    test('changes of one key are made in the order of the calls', async ({ store }) => {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          store.transact(['log'], (records) => {
            // Sound: only this test writes it.
            records.set('log', [...((records.get('log') as number[] | undefined) ?? []), index]);
          }),
        ),
      );
      deepEqual(
        await read(store, 'log'),
        Array.from({ length: 50 }, (_, index) => index),
      );
    });
  });

  describe('expiry', () => {
    test('a record is there until it expires, and gone from then on', async ({ store, clock }) => {
      await write(store, 'a', 1, clock.now + 1000);
      clock.now += 999;
      equal(await read(store, 'a'), 1);
      deepEqual(await listAll(store), [{ key: 'a', value: 1, expiresAt: clock.now + 1 }]);
      clock.now += 1;
      equal(await read(store, 'a'), undefined);
      deepEqual(await listAll(store), []);
    });

    test('setting a record again sets its expiry again', async ({ store, clock }) => {
      await write(store, 'a', 1, clock.now + 1000);
      await write(store, 'a', 2);
      await write(store, 'b', 1);
      await write(store, 'b', 2, clock.now + 1000);
      clock.now += 2000;
      deepEqual(await listAll(store), [{ key: 'a', value: 2 }]);
    });

    test('an expired record can be created again, by one of many', async ({ store, open, clock }) => {
      await write(store, 'a', 'old', clock.now + 1000);
      clock.now += 1000;
      const stores = [store, await open()];
      const winners = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          pick(stores, index).transact(['a'], (records) => {
            if (records.get('a') !== undefined) return false;
            records.set('a', 'new');
            return true;
          }),
        ),
      );
      equal(winners.filter((won) => won).length, 1);
      equal(await read(store, 'a'), 'new');
    });

    test('what was set with an expiry in the past is never seen', async ({ store, clock }) => {
      await write(store, 'a', 1);
      await write(store, 'a', 2, clock.now - 1);
      equal(await read(store, 'a'), undefined);
    });

    test('a clock that goes back loses no record without an expiry', async ({ store, clock }) => {
      await write(store, 'a', 1);
      await write(store, 'b', 1, clock.now + 1000);
      clock.now -= 86_400_000;
      equal(await read(store, 'a'), 1);
      equal(await read(store, 'b'), 1);
      clock.now += 10 * 86_400_000;
      equal(await read(store, 'a'), 1);
      equal(await read(store, 'b'), undefined);
    });

    test('expired records do not pile up in front of a list', async ({ store, clock }) => {
      for (let part = 0; part < 3; part++) {
        const keys = Array.from({ length: 500 }, (_, index) => `${part}/${index}`);
        await store.transact(keys, (records) => {
          for (const key of keys) records.set(key, 1, { expiresAt: clock.now + 1000 });
        });
      }
      await write(store, 'z', 1);
      clock.now += 1000;
      deepEqual(await store.list({ prefix: '', limit: 1 }), [{ key: 'z', value: 1 }]);
    });
  });

  describe('list', () => {
    test('pages through the keys of a prefix in order', async ({ store }) => {
      const keys = ['order/1', 'order/10', 'order/2', 'order/B', 'order/a', 'orders', 'other', 'Order/1'];
      await store.transact(keys, (records) => {
        for (const key of keys) records.set(key, key);
      });
      const pages = [];
      let after: string | undefined;
      for (;;) {
        const page = await store.list({ prefix: 'order/', after, limit: 2 });
        pages.push(page.map(({ key }) => key));
        if (page.length < 2) break;
        after = page.at(-1)?.key;
      }
      deepEqual(pages, [['order/1', 'order/10'], ['order/2', 'order/B'], ['order/a']]);
    });

    test('takes every character of a prefix as it is', async ({ store }) => {
      const odd = ['a%', 'a_', 'a*', 'a?', 'a[b]', 'a\\', "a'", 'a~'];
      const keys = [...odd.map((prefix) => `${prefix}1`), 'ab1', 'a1'];
      await store.transact(keys, (records) => {
        for (const key of keys) records.set(key, 1);
      });
      for (const prefix of odd) {
        deepEqual(await store.list({ prefix, limit: 10 }), [{ key: `${prefix}1`, value: 1 }]);
      }
    });

    test('begins after a key that was deleted', async ({ store }) => {
      await store.transact(['a', 'b', 'c'], (records) => {
        for (const key of ['a', 'c']) records.set(key, 1);
      });
      deepEqual(await store.list({ prefix: '', after: 'b', limit: 10 }), [{ key: 'c', value: 1 }]);
      deepEqual(await store.list({ prefix: 'a', after: 'b', limit: 10 }), []);
      deepEqual(await store.list({ prefix: 'c', after: 'a', limit: 10 }), [{ key: 'c', value: 1 }]);
    });

    test('refuses unsound options', async ({ store }) => {
      const unsound = [{}, { prefix: '' }, { prefix: '', limit: 0 }, { prefix: '', limit: 1001 }];
      for (const options of [...unsound, { prefix: 'é', limit: 1 }, { prefix: '', limit: 1, afer: 'a' }]) {
        // Sound: the point is what the types refuse.
        await rejects(store.list(options as never), { code: 'invalid_option' });
      }
    });
  });

  describe('refuses', () => {
    test('keys that are not 1 to 512 printable ASCII characters', async ({ store }) => {
      for (const key of ['', ' ', 'a b', 'é', '\n', '\u0000', '\u007f', 'k'.repeat(513), undefined, 1]) {
        // Sound: the point is what the types refuse.
        await rejects(
          store.transact([key as never], () => 1),
          { code: 'invalid_option' },
        );
      }
    });

    test('no keys, and more than 1,000', async ({ store }) => {
      const many = Array.from({ length: 1001 }, (_, index) => `k${index}`);
      for (const keys of [[], many]) {
        await rejects(
          store.transact(keys, () => 1),
          { code: 'invalid_option' },
        );
      }
    });

    test('keys that the transaction does not name', async ({ store }) => {
      for (const use of ['get', 'set', 'delete'] as const) {
        await rejects(
          store.transact(['a'], (records) => records[use]('b', 1)),
          { code: 'invalid_option' },
        );
      }
    });

    test('records that are used after the change', async ({ store }) => {
      const kept = await store.transact(['a'], (records) => ({ records }));
      await rejects(async () => kept.records.set('a', 1), { code: 'invalid_option' });
      equal(await read(store, 'a'), undefined);
    });

    test('values that are no JSON data or too large, and unsound expiries', async ({ store }) => {
      const unsound = [undefined, Number.NaN, () => 1, 1n, new Date(), new Map(), 'x'.repeat(1024 * 1024)];
      for (const value of unsound) {
        // Sound: the point is what the types refuse.
        await rejects(write(store, 'a', value as never), { code: 'invalid_option' });
      }
      for (const expiresAt of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await rejects(write(store, 'a', 1, expiresAt), { code: 'invalid_option' });
      }
      equal(await read(store, 'a'), undefined);
    });
  });

  describe('close', () => {
    test('may be called twice; what comes later is refused with store_closed', async ({ store }) => {
      await write(store, 'a', 1);
      await store.close();
      await store.close();
      await rejects(write(store, 'a', 2), { code: 'store_closed' });
      await rejects(store.list({ prefix: '', limit: 1 }), { code: 'store_closed' });
    });

    test('waits for the transactions that have begun', async ({ open }) => {
      const store = await open('closing');
      let isDone = false;
      const changes = Promise.all(Array.from({ length: 5 }, () => increment(store, 'count'))).then(() => {
        isDone = true;
      });
      await store.close();
      await changes;
      ok(isDone);
    });
  });
}

interface TestContext {
  readonly store: RecordStore;
  /** Opens another store of the same data, or of another part. */
  readonly open: (part?: string) => Promise<RecordStore>;
  readonly clock: { now: number };
}

function read(store: RecordStore, key: string): Promise<JsonValue | undefined> {
  return store.transact([key], (records) => records.get(key));
}

function write(store: RecordStore, key: string, value: JsonValue, expiresAt?: number): Promise<void> {
  return store.transact([key], (records) => records.set(key, value, { expiresAt }));
}

function increment(store: RecordStore, key: string): Promise<void> {
  return store.transact([key], (records) => records.set(key, Number(records.get(key) ?? 0) + 1));
}

function listAll(store: RecordStore, prefix = ''): Promise<StoredRecord[]> {
  return store.list({ prefix, limit: 1000 });
}

function pick<Item>(items: readonly Item[], index: number): Item {
  // Sound: the index is brought into the list.
  return items[index % items.length] as Item;
}
