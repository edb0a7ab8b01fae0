import { Redis } from 'ioredis';
import { postgresStore, redisStore } from 'partner-exchange-sdk/store';
import pg from 'pg';
import { createClient } from 'redis';

/** Every client as its user makes it; compiled by `check:peers` with the versions at both ends of the peer ranges. */
export function useEveryClient(url: string) {
  return {
    ioredis: redisStore({ client: new Redis(url) }),
    nodeRedis: redisStore({ client: createClient({ url }) }),
    pg: postgresStore({ client: new pg.Pool({ connectionString: url }) }),
  };
}
