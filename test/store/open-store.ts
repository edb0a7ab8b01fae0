import type { RecordStore } from '../../src/store/record-store.ts';

/** A store by its name and address, for programs that get them as arguments. What it needs is loaded only for it. */
export async function openStore(
  engine: string,
  address: string,
  name: string,
  options: { readonly storeTimeoutMs?: number } = {},
): Promise<{ readonly store: RecordStore; close(): Promise<unknown> }> {
  if (engine === 'postgres') {
    const { default: pg } = await import('pg');
    const { postgresStore } = await import('../../src/store/postgres/postgres-store.ts');
    const client = new pg.Pool({ connectionString: address, max: 5 });
    client.on('error', () => {});
    const store = postgresStore({ client, table: name, ...options });
    return { store, close: () => store.close().then(() => client.end()) };
  }
  if (engine === 'sqlite') {
    const { sqliteStore } = await import('../../src/store/sqlite/sqlite-store.ts');
    const store = sqliteStore({ path: `${address}/${name}.sqlite`, busyTimeoutMs: 30_000 });
    return { store, close: () => store.close() };
  }
  const { Redis } = await import('ioredis');
  const { redisStore } = await import('../../src/store/redis/redis-store.ts');
  const client = new Redis(address);
  client.on('error', () => {});
  const store = redisStore({ client, prefix: name, ...options });
  return { store, close: () => store.close().then(() => client.quit()) };
}
