import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { postgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { startOwnPostgres } from '../../support/own-server.ts';
import { missingForPostgres } from '../../support/private-server.ts';

describe.skipIf(missingForPostgres() !== undefined)('postgresStore and its server', () => {
  it('loses no change that was made when the server is killed, and makes none twice', async () => {
    const server = await startOwnPostgres();
    const pool = new pg.Pool({
      host: '127.0.0.1',
      port: server.port,
      user: 'postgres',
      database: 'postgres',
    });
    pool.on('error', () => {});
    let isOver = false;
    onTestFinished(async () => {
      isOver = true;
      await pool.end();
    });
    const store = postgresStore({ client: pool, storeTimeoutMs: 2_000 });
    const told: number[] = [];
    let [failed, maybe] = [0, 0];
    const work = Promise.all(
      // Two keys, so that the server is killed in the middle of several transactions.
      ['a', 'b'].map(async (key) => {
        while (!isOver) {
          await store
            .transact([key, `copy-of-${key}`], (records) => {
              const count = Number(records.get(key) ?? 0) + 1;
              for (const each of [key, `copy-of-${key}`]) records.set(each, count);
              return count;
            })
            .then(
              (count) => told.push(count),
              async (error) => {
                expect(error).toMatchObject({ code: 'store_failed' });
                failed++;
                if (/may have been written/.test(error.message)) maybe++;
                // real time: a loop without a pause would only fail meanwhile.
                await new Promise((resolve) => setTimeout(resolve, 20));
              },
            );
        }
      }),
    );
    for (let kill = 1; kill <= 3; kill++) {
      const before = told.length;
      await vi.waitFor(() => expect(told.length).toBeGreaterThan(before + 30), 20_000);
      await server.restart();
    }
    const before = told.length;
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(before), 20_000);
    isOver = true;
    await work;
    expect(failed).toBeGreaterThanOrEqual(1);
    const records = await store.list({ prefix: '', limit: 10 });
    const countOf = (key: string) => Number(records.find((each) => each.key === key)?.value);
    for (const key of ['a', 'b']) expect(countOf(`copy-of-${key}`)).toBe(countOf(key));
    const total = countOf('a') + countOf('b');
    // Each one that was told is there, and none that was said not to be written.
    expect(total).toBeGreaterThanOrEqual(told.length);
    expect(total).toBeLessThanOrEqual(told.length + maybe);
  }, 90_000);
});
