import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { clients, removeKeys } from '../store/redis/clients.ts';
import { describeWith, postgresUrl, redisUrl, run } from '../store/servers.ts';
import { scratchFolder } from '../support/scratch.ts';
import { Clock, notCode, notValid, otpOn, phone, purpose } from './support.ts';

const folder = scratchFolder(afterAll);

it('two processes on one SQLite file compare no more than maxAttempts', async () => {
  const path = join(folder, 'codes.sqlite');
  await expectFewComparisons(({ now }) => [sqliteStore({ path, now }), sqliteStore({ path, now })]);
});

describeWith('postgres', 'two processes on PostgreSQL', () => {
  it('compare no more than maxAttempts', async () => {
    const schema = `${run}_otp`;
    const pools = [0, 1].map(() => new pg.Pool({ connectionString: postgresUrl, max: 5 }));
    await pools[0]?.query(`CREATE SCHEMA ${schema}`);
    try {
      await expectFewComparisons(({ now }) => pools.map((client) => postgresStore({ client, schema, now })));
    } finally {
      await pools[0]?.query(`DROP SCHEMA ${schema} CASCADE`);
      for (const pool of pools) await pool.end();
    }
  });
});

describeWith('redis', 'two processes on Redis', () => {
  it('compare no more than maxAttempts', async () => {
    const prefix = `${run}_otp`;
    const connected = await Promise.all([clients.ioredis?.(redisUrl), clients.ioredis?.(redisUrl)]);
    try {
      await expectFewComparisons(({ now }) =>
        connected.flatMap((one) => (one ? [redisStore({ client: one.client, prefix, now })] : [])),
      );
    } finally {
      await removeKeys(redisUrl, [prefix]);
      for (const one of connected) await one?.close();
    }
  });
});

/** Counting, comparing and using up are one transaction, whichever process checks. */
async function expectFewComparisons(open: (clock: Clock) => readonly RecordStore[]): Promise<void> {
  const clock = new Clock();
  const stores = open(clock);
  const [first, second] = stores.map((store) => otpOn(store, clock));
  if (first === undefined || second === undefined) throw new Error('There are fewer than two stores.');
  try {
    const { id } = await first.otp.issue({ to_phone: phone, purpose });
    const code = first.messenger.lastCode;
    const guesses = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? first : second).otp.check(id, notCode(code), { purpose }),
    );
    const left = (await Promise.all(guesses)).map((checked) =>
      checked.ok ? 'accepted' : checked.attemptsLeft,
    );
    expect(left.filter((attempts) => attempts !== 0).sort()).toEqual([1, 2, 3, 4]);
    expect(await second.otp.check(id, code, { purpose })).toEqual(notValid);
  } finally {
    for (const store of stores) await store.close();
  }
}
