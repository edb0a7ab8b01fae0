import { expect, it } from 'vitest';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { nextTurn } from '../support/next-turn.ts';

const hang = () => new Promise<never>(() => {});
const storeTimeoutMs = 100;

it.each<[string, () => RecordStore]>([
  ['Redis', () => redisStore({ client: { eval: hang, evalsha: hang }, storeTimeoutMs })],
  [
    'PostgreSQL',
    () => postgresStore({ client: { query: hang, connect: hang, totalCount: 0 }, storeTimeoutMs }),
  ],
])('while %s hangs, changes of one key do not add up their time limits', async (_, open) => {
  const store = open();
  const begunAt = performance.now();
  const changes = Array.from({ length: 20 }, () => store.transact(['key'], () => {}));
  const ends = await Promise.allSettled(changes);
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'store_failed' } });
  // Instead of 20 times the limit, one after the other.
  expect(performance.now() - begunAt).toBeLessThan(10 * storeTimeoutMs);
});

it('PostgreSQL is not asked to commit after the time limit, even if the connection cannot be ended', async () => {
  const sent: string[] = [];
  const read = Promise.withResolvers<unknown>();
  const client = {
    query: async (text: string) => {
      sent.push(text);
      return text.startsWith('SELECT') ? await read.promise : { rows: [], command: text };
    },
    release() {},
    on() {},
    removeListener() {},
  };
  const store = postgresStore({
    client: { query: client.query, connect: async () => client, totalCount: 1 },
    storeTimeoutMs,
  });
  const change = store.transact(['key'], (records) => records.set('key', 1));
  await expect(change).rejects.toThrow('nothing was written');
  const before = sent.length;
  read.resolve({ rows: [] });
  await nextTurn();
  expect(sent.slice(before)).toEqual([]);
});
