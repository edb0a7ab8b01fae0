import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { JsonValue } from '../../../internal/json.ts';
import { type DefineStoreTest, listAll, read, write } from './store-test-context.ts';

export function testReadsAndWrites(test: DefineStoreTest): void {
  test('returns what the change returns, after writing what it set', async ({ store }) => {
    const result = await store.transact(['a'], (records) => {
      records.set('a', { count: 1 });
      return 'done';
    });
    equal(result, 'done');
    deepEqual(await read(store, 'a'), { count: 1 });
    equal(await read(store, 'nothing'), undefined);
    deepEqual(await listAll(store), [{ key: 'a', value: { count: 1 } }]);
  });

  test('sets, replaces and deletes several records at once', async ({ store }) => {
    // A key that is named twice is one key.
    await store.transact(['a', 'b', 'c', 'a'], (records) => {
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

  test('values are copies', async ({ store }) => {
    const value = { list: [1] };
    await store.transact(['a'], (records) => {
      records.set('a', value);
      value.list.push(2);
      // Sound: the value set above.
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
}

export function testAllOrNothing(test: DefineStoreTest): void {
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
}

export function testList(test: DefineStoreTest): void {
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
}

export function testRefusals(test: DefineStoreTest): void {
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
    const unsound = [undefined, Number.NaN, () => 1, 1n, new Date(), new Map(), 'x'.repeat(3 * 1024 * 1024)];
    for (const value of unsound) {
      // Sound: the point is what the types refuse.
      await rejects(write(store, 'a', value as never), { code: 'invalid_option' });
    }
    for (const expiresAt of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await rejects(write(store, 'a', 1, expiresAt), { code: 'invalid_option' });
    }
    equal(await read(store, 'a'), undefined);
  });
}
