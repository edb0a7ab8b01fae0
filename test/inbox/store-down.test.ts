import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { PgBoss } from 'pg-boss';
import { describe, expect, it, vi } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { BullQueue } from '../../src/inbox/bullmq/bullmq-types.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../src/inbox/pg-boss/pg-boss-types.ts';
import { storeGate } from '../../src/inbox/store-gate.ts';
import { send, serve } from '../webhooks/server.ts';
import { order, receiver } from './contract.ts';
import { startRedis } from './crash/private-server.ts';
import { engines } from './engines.ts';

const redisHere = (await engines.find(({ name }) => name === 'bullmq')?.absent()) === undefined;

describe('a store that is down', () => {
  it.runIf(redisHere)(
    'has deliveries answered 503 while Redis is away, and 200 when it is back',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'redis-'));
      const redis = await startRedis(folder);
      const connection = { host: '127.0.0.1', port: redis.port };
      const queue = new Queue('inbox', { connection, prefix: 'down' });
      queue.on('error', () => {});
      const inbox = bullmqInbox({ queue, handles: 'elsewhere', storeTimeoutMs: 300 });
      const { webhooks } = receiver(inbox);
      expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
      await redis.stop();
      await using server = await serve(webhooks.node);
      const answer = await send(server.port, { body: order('B') });
      expect(answer).toMatchObject({ status: 503, body: '{"error":"unavailable"}' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      await redis.restart();
      await vi.waitFor(
        async () => expect(await webhooks.receive(order('B'))).toMatchObject({ status: 200 }),
        { timeout: 15_000, interval: 200 },
      );
      expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
      await queue.close();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  );

  it.runIf(redisHere)('shows nothing of a delivery in the error when Redis has no room for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'redis-'));
    const redis = await startRedis(folder);
    const connection = { host: '127.0.0.1', port: redis.port };
    const queue = new Queue('inbox', { connection, prefix: 'full' });
    const { webhooks } = receiver(bullmqInbox({ queue, handles: 'elsewhere' }));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    const client = new Redis(connection);
    await client.config('SET', 'maxmemory', '1');
    const outcome = await webhooks.receive(order('A-1001'));
    expect(outcome).toMatchObject({
      kind: 'unavailable',
      error: { cause: { message: expect.stringContaining('OOM'), command: { name: 'evalsha' } } },
    });
    expect(inspect(outcome, { depth: null, showHidden: true })).not.toContain('A-1001');
    await client.quit();
    await queue.close();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has deliveries answered 503 when PostgreSQL refuses connections', async () => {
    const boss = new PgBoss({ connectionString: 'postgres://postgres@127.0.0.1:1/test', supervise: false });
    boss.on('error', () => {});
    const { webhooks } = receiver(pgBossInbox({ boss, handles: 'elsewhere', storeTimeoutMs: 1_000 }));
    await using server = await serve(webhooks.node);
    expect(await send(server.port, { body: order('A') })).toMatchObject({ status: 503 });
  });

  it.each<[string, () => Promise<never>]>([
    ['fails', () => Promise.reject(new Error('down'))],
    ['does not answer', () => new Promise(() => {})],
  ])('acknowledges nothing when the client %s', async (_, ask) => {
    // Only what is reached before the failure.
    const queue = { name: 'x', add: ask, getJobState: ask } as unknown as BullQueue;
    const boss = { send: ask, createQueue: async () => {} } as unknown as Boss;
    const options = { handles: 'elsewhere', storeTimeoutMs: 30 } as const;
    for (const inbox of [bullmqInbox({ queue, ...options }), pgBossInbox({ boss, ...options })]) {
      expect(await receiver(inbox).webhooks.receive(order('A'))).toMatchObject({
        kind: 'unavailable',
        status: 503,
        error: { code: 'store_unavailable', cause: expect.any(Error) },
      });
    }
  });

  it('is not asked by more than so many at a time: the others are answered at once', async () => {
    const ask = storeGate({ storeTimeoutMs: 30, maxPending: 2 });
    const never = () => ask(() => new Promise(() => {}));
    const first = [never(), never()];
    await expect(ask(async () => 'fine')).rejects.toMatchObject({ code: 'store_unavailable' });
    for (const one of first) await expect(one).rejects.toMatchObject({ code: 'store_unavailable' });
    // They may still be written: they count until they have ended.
    await expect(ask(async () => 'fine')).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
