import { deepEqual, equal } from 'node:assert/strict';
import { type DefineTest, increment, listAll, pick, read } from './test-context.ts';

export function testConcurrentChanges(test: DefineTest): void {
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
}
