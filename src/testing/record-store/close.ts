import { ok, rejects } from 'node:assert/strict';
import { type DefineTest, increment, write } from './test-context.ts';

export function testClose(test: DefineTest): void {
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
    // If one is refused, isDone stays false.
    void changes.then(
      () => {
        isDone = true;
      },
      () => {},
    );
    await store.close();
    // The promises of changes that are done settle within one turn.
    await new Promise((resolve) => setTimeout(resolve));
    ok(isDone);
  });
}
