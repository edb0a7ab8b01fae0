import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { type DefineStoreTest, increment, listAll, pick, read, write } from './store-test-context.ts';

export function testConcurrentChanges(test: DefineStoreTest): void {
  test('many changes of one key lose none, from one store and from three', async ({ store, open }) => {
    const stores = [store, await open(), await open()];
    await Promise.all(Array.from({ length: 850 }, () => increment(store, 'count')));
    await Promise.all(Array.from({ length: 150 }, (_, index) => increment(pick(stores, index), 'count')));
    equal(await read(store, 'count'), 1000);
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
    // Each may end the last shift only while the other one is on duty.
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
}

export function testExpiry(test: DefineStoreTest): void {
  test('a record is there until it expires, and gone from then on', async ({ store, clock }) => {
    await write(store, 'a', 1, clock.now + 1000);
    clock.now += 999;
    equal(await read(store, 'a'), 1);
    deepEqual(await listAll(store), [{ key: 'a', value: 1, expiresAt: clock.now + 1 }]);
    clock.now += 1;
    equal(await read(store, 'a'), undefined);
    await write(store, 'b', 1);
    await write(store, 'b', 2, clock.now - 1);
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

export function testClose(test: DefineStoreTest): void {
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
    const changes = Promise.all(Array.from({ length: 5 }, () => increment(store, 'count')));
    // If a change is refused, isDone stays false.
    void changes.then(
      () => {
        isDone = true;
      },
      () => {},
    );
    await store.close();
    // Promises of finished changes settle within one turn.
    await new Promise((resolve) => setTimeout(resolve));
    ok(isDone);
  });
}
