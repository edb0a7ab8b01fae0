import { deepEqual, equal, rejects } from 'node:assert/strict';
import { type DefineTest, listAll, read, write } from './test-context.ts';

export function testAllOrNothing(test: DefineTest): void {
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
