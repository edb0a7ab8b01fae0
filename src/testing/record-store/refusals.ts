import { equal, rejects } from 'node:assert/strict';
import { type DefineTest, read, write } from './test-context.ts';

export function testRefusals(test: DefineTest): void {
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
}
