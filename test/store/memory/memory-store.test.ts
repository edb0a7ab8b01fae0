import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/store/memory-store.ts';

const hour = 3_600_000;

/** A store with a record that expires in a second, and just enough changes at a later time for it to clean up. */
async function cleanedAfter(ms: number) {
  const clock = { now: 1_700_000_000_000 };
  const store = memoryStore({ now: () => clock.now });
  await store.transact(['a'], (records) => records.set('a', 1, { expiresAt: clock.now + 1000 }));
  clock.now += ms;
  for (let round = 0; round < 999; round++) await store.transact(['b'], (records) => records.set('b', round));
  expect(await store.list({ prefix: 'a', limit: 1 })).toEqual([]);
  clock.now -= ms;
  return store;
}

describe('memoryStore', () => {
  it('keeps what has expired for an hour, should its clock be ahead and be set right', async () => {
    const store = await cleanedAfter(hour);
    expect(await store.list({ prefix: 'a', limit: 1 })).toMatchObject([{ key: 'a', value: 1 }]);
  });

  it('lists what came and went since the last list, in order', async () => {
    const store = memoryStore();
    const list = async (prefix: string) => (await store.list({ prefix, limit: 10 })).map(({ key }) => key);
    const change = (set: readonly string[], removed: readonly string[] = []) =>
      store.transact([...set, ...removed], (records) => {
        for (const key of set) records.set(key, 1);
        for (const key of removed) records.delete(key);
      });
    await change(['a/2', 'a/4', 'b/1']);
    expect(await list('a/')).toEqual(['a/2', 'a/4']);
    await change(['a/3', 'b/0'], ['a/2']);
    expect(await list('a/')).toEqual(['a/3', 'a/4']);
    await change(['a/2'], ['a/3']);
    expect(await list('a/')).toEqual(['a/2', 'a/4']);
    expect(await list('b/')).toEqual(['b/0', 'b/1']);
    expect(await list('')).toEqual(['a/2', 'a/4', 'b/0', 'b/1']);
  });

  it('drops what expired longer ago', async () => {
    const store = await cleanedAfter(hour + 1001);
    expect(await store.list({ prefix: 'a', limit: 1 })).toEqual([]);
  });
});
