import { deepEqual, rejects } from 'node:assert/strict';
import type { DefineTest } from './test-context.ts';

export function testList(test: DefineTest): void {
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
