import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/store/memory-store.ts';

const hour = 3_600_000;

/** A store with a record that expires in a second, and enough changes at a later time for it to clean up. */
async function cleanedAfter(ms: number) {
  const clock = { now: 1_700_000_000_000 };
  const store = memoryStore({ now: () => clock.now });
  await store.transact(['a'], (records) => records.set('a', 1, { expiresAt: clock.now + 1000 }));
  clock.now += ms;
  for (let round = 0; round < 1000; round++)
    await store.transact(['b'], (records) => records.set('b', round));
  expect(await store.list({ prefix: 'a', limit: 1 })).toEqual([]);
  clock.now -= ms;
  return store;
}

describe('memoryStore', () => {
  it('keeps what has expired for an hour, should its clock be ahead and be set right', async () => {
    const store = await cleanedAfter(hour);
    expect(await store.list({ prefix: 'a', limit: 1 })).toMatchObject([{ key: 'a', value: 1 }]);
  });

  it('drops it then', async () => {
    const store = await cleanedAfter(hour + 1001);
    expect(await store.list({ prefix: 'a', limit: 1 })).toEqual([]);
  });
});
