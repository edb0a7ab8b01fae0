import type { PgPool } from '../../store/postgres/pg-client.ts';
import { postgresStore } from '../../store/postgres/postgres-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { IoredisClient } from '../../store/redis/redis-client.ts';
import { redisStore } from '../../store/redis/redis-store.ts';
import type { CliContext } from '../context/cli-context.ts';
import { loadOptionalPackage } from './optional-package.ts';
import type { StorePlace } from './store-place.ts';

/** The parts of `Redis` of ioredis that are used here besides the store. */
interface RedisConnection extends IoredisClient {
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: 'error', listener: () => void): unknown;
}

/** The parts of `Pool` of pg that are used here besides the store. */
interface PostgresPool extends PgPool {
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}

/** Works with a record store, and closes it and its connection afterwards. */
export async function withStore<Result>(
  context: CliContext,
  place: StorePlace,
  work: (store: RecordStore) => Promise<Result>,
): Promise<Result> {
  const { store, close } = await open(context, place);
  try {
    return await work(store);
  } finally {
    await store.close();
    await close();
  }
}

async function open(
  context: CliContext,
  place: StorePlace,
): Promise<{ store: RecordStore; close: () => Promise<void> }> {
  const { now } = context;
  if (place.kind === 'file') {
    // Loaded when it is needed: Node 22.12 has no SQLite without a flag.
    const { sqliteStore } = await import('../../store/sqlite/sqlite-store.ts');
    return { store: sqliteStore({ path: place.path, now }), close: async () => {} };
  }
  if (place.kind === 'redis') {
    const { Redis } = await loadOptionalPackage(context, 'ioredis');
    // Sound: it is the class that ioredis exports under this name.
    const Client = Redis as new (url: string, options: object) => RedisConnection;
    const client = new Client(place.url, { lazyConnect: true, maxRetriesPerRequest: 3 });
    // Without a listener it would print; the call that fails says it as well.
    client.on('error', () => {});
    await client.connect();
    return { store: redisStore({ client, now }), close: async () => client.disconnect() };
  }
  const { Pool } = await loadOptionalPackage(context, 'pg');
  // Sound: it is the class that pg exports under this name.
  const pool = new (Pool as new (options: object) => PostgresPool)({ connectionString: place.url });
  pool.on('error', () => {});
  return { store: postgresStore({ client: pool, now }), close: () => pool.end() };
}
