import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqInbox } from 'partner-exchange-sdk/inbox/bullmq';
import { pgBossInbox } from 'partner-exchange-sdk/inbox/pg-boss';
import { postgresStore, redisStore } from 'partner-exchange-sdk/store';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { createClient } from 'redis';

/** Every client as its user makes it; compiled by `check:peers` with the versions at both ends of the peer ranges. */
export function useEveryClient(url: string) {
  const connection = { host: 'localhost', port: 6379 };
  return {
    onRedis: bullmqInbox({
      queue: new Queue('order-events', { connection }),
      createWorker: (name, processor, options) => new Worker(name, processor, { ...options, connection }),
    }),
    onPostgres: pgBossInbox({ boss: new PgBoss(url) }),
    ioredis: redisStore({ client: new Redis(url) }),
    nodeRedis: redisStore({ client: createClient({ url }) }),
    pg: postgresStore({ client: new pg.Pool({ connectionString: url }) }),
  };
}
