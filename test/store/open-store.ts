import type { RecordStore } from '../../src/store/record-store.ts';

/** A store by its name and address, for programs that get them as arguments. What it needs is loaded only for it. */
export async function openStore(
  engine: string,
  address: string,
  name: string,
  options: { readonly storeTimeoutMs?: number } = {},
): Promise<{ readonly store: RecordStore; readonly client: object; close(): Promise<void> }> {
  if (engine === 'postgres') {
    const { default: pg } = await import('pg');
    const { postgresStore } = await import('../../src/store/postgres/postgres-store.ts');
    const client = new pg.Pool({ connectionString: address, max: 5 });
    client.on('error', () => {});
    const store = postgresStore({ client, table: name, ...options });
    return { store, client, close: () => store.close().then(() => client.end()) };
  }
  if (engine === 'sqlite') {
    const { sqliteStore } = await import('../../src/store/sqlite/sqlite-store.ts');
    const store = sqliteStore({ path: `${address}/${name}.sqlite`, busyTimeoutMs: 30_000 });
    return { store, client: {}, close: () => store.close() };
  }
  const { redisStore } = await import('../../src/store/redis/redis-store.ts');
  if (engine === 'ioredis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(address);
    client.on('error', () => {});
    const store = redisStore({ client, prefix: name, ...options });
    return {
      store,
      client,
      async close() {
        await store.close();
        await client.quit();
      },
    };
  }
  const { createClient } = await import('redis');
  const client = createClient({ url: address });
  await client.on('error', () => {}).connect();
  const store = redisStore({ client, prefix: name, ...options });
  // 4 has no close().
  const end = () => ('close' in client ? client.close() : Object(client).quit());
  return { store, client, close: () => store.close().then(end) };
}
