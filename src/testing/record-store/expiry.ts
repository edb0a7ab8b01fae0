import { deepEqual, equal } from 'node:assert/strict';
import { type DefineTest, listAll, pick, read, write } from './test-context.ts';

export function testExpiry(test: DefineTest): void {
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
}
