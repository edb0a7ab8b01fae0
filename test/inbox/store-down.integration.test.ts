import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import type { ManagedInbox } from '../../src/inbox/inbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import { redisStore } from '../../src/store/redis/redis-store.ts';
import {
  missingForPostgres,
  missingForRedis,
  type PrivateServer,
  startPostgres,
  startRedis,
} from '../support/private-server.ts';
import { scratchFolder } from '../support/scratch.ts';
import { gate } from '../webhooks/deliveries.ts';
import { send, serve } from '../webhooks/http/server.ts';
import { order, quick, receiver } from './receiver.ts';

const redisInstalled = missingForRedis() === undefined;
const postgresInstalled = missingForPostgres() === undefined;
const whileDown = { ...quick, timeLimitMs: 1_000, maxAttempts: 100, onStoreError: () => {} };

/** One delivery is being handled when the server goes, and another comes while it is away. */
async function expectNothingLost(inbox: ManagedInbox, server: PrivateServer): Promise<void> {
  const begun = gate();
  let isAway = false;
  const { webhooks, calls } = receiver(inbox, () => {
    begun.open();
    return isAway ? new Promise(() => {}) : undefined;
  });
  isAway = true;
  expect(await webhooks.receive(order('under way'))).toMatchObject({ kind: 'stored' });
  await begun.opened;
  await server.stop();
  await using http = await serve(webhooks.node);
  let tries = 0;
  const meanwhile = () => `meanwhile ${tries}`;
  // The processes of a PostgreSQL whose first one was killed may still write for a moment.
  await vi.waitFor(
    async () => {
      tries++;
      const { status, body, headers } = await send(http.port, { body: order(meanwhile()) });
      expect([status, body]).toEqual([503, '{"error":"unavailable"}']);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    },
    { timeout: 20_000 },
  );
  isAway = false;
  const before = calls.length;
  await server.restart();
  await vi.waitFor(
    async () => expect(await webhooks.receive(order(meanwhile()))).toMatchObject({ status: 200 }),
    { timeout: 20_000, interval: 200 },
  );
  await vi.waitFor(
    () => expect(calls.slice(before)).toEqual(expect.arrayContaining(['under way', meanwhile()])),
    { timeout: 20_000, interval: 50 },
  );
  expect(await webhooks.receive(order('under way'))).toMatchObject({ kind: 'duplicate' });
}

describe('a store that is down', () => {
  it.runIf(redisInstalled)(
    'has deliveries answered 503 while Redis is away; when it is back they are kept, and all are handled',
    async () => {
      const redis = await startRedis(scratchFolder());
      const client = new Redis(redis.port, { maxRetriesPerRequest: null });
      client.on('error', () => {});
      const inbox = storeInbox({ store: redisStore({ client }), ...whileDown, storeTimeoutMs: 1_500 });
      await expectNothingLost(inbox, redis);
      await inbox.stop({ timeoutMs: 1_000 });
      client.disconnect();
      await redis.stop();
    },
    60_000,
  );

  it.runIf(postgresInstalled)(
    'has deliveries answered 503 while PostgreSQL is away; when it is back they are kept, and all are handled',
    async () => {
      const postgres = await startPostgres(scratchFolder());
      const connectionString = `postgres://postgres@127.0.0.1:${postgres.port}/postgres`;
      const client = new pg.Pool({ connectionString });
      client.on('error', () => {});
      const inbox = storeInbox({
        store: postgresStore({ client }),
        ...{ ...whileDown, pollMs: 50, storeTimeoutMs: 2_000 },
      });
      await expectNothingLost(inbox, postgres);
      await inbox.stop({ timeoutMs: 1_000 });
      await client.end();
      await postgres.stop();
    },
    60_000,
  );
});
