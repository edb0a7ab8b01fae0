import { deepEqual, equal } from 'node:assert/strict';
import type { JsonValue } from '../../json/json-value.ts';
import { type DefineTest, listAll, read, write } from './test-context.ts';

export function testReadsAndWrites(test: DefineTest): void {
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
}
