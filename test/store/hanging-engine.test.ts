import { expect, it, onTestFinished, vi } from 'vitest';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { nextTurn } from '../support/next-turn.ts';

const hang = () => new Promise<never>(() => {});
const storeTimeoutMs = 1_000;

it.each<[string, () => RecordStore]>([
  ['Redis', () => redisStore({ client: { eval: hang, evalsha: hang }, storeTimeoutMs })],
  [
    'PostgreSQL',
    () => postgresStore({ client: { query: hang, connect: hang, totalCount: 0, on() {} }, storeTimeoutMs }),
  ],
])('while %s hangs, changes of one key do not add up their time limits', async (_, open) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = open();
  const changes = Array.from({ length: 20 }, () => store.transact(['key'], () => {}));
  const settled = Promise.allSettled(changes);
  // The last one waits behind another, and no further.
  for (let limits = 0; limits < 2; limits++) {
    await nextTurn();
    await vi.advanceTimersByTimeAsync(storeTimeoutMs);
  }
  const ends = await Promise.race([settled, nextTurn().then(() => [])]);
  expect(ends).toHaveLength(20);
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'store_failed' } });
});
