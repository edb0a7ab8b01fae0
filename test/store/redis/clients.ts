import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { createClient } from 'redis';
import { onTestFinished } from 'vitest';
import type { RedisStoreOptions } from '../../../src/store/redis/redis-store.ts';

/** A client as a user makes it. */
export interface TestClient {
  readonly client: RedisStoreOptions['client'];
  close(): Promise<unknown>;
}

/** The clients of both ends of the versions that we take. */
export const clients: Readonly<Record<string, (url: string) => Promise<TestClient>>> = {
  ioredis: async (url) => {
    const client = new Redis(url);
    client.on('error', () => {});
    return { client, close: () => client.quit() };
  },
  'ioredis 5': async (url) => {
    const client = new Redis5(url);
    client.on('error', () => {});
    return { client, close: () => client.quit() };
  },
  'node-redis': async (url) => {
    const client = createClient({ url });
    await client.on('error', () => {}).connect();
    return { client, close: () => client.close() };
  },
};

/** A client that is gone when the test is over. */
export function connectTo(port: number): Redis {
  const client = new Redis(port, '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** Removes what stores of these prefixes have left. */
export async function removeKeys(url: string, prefixes: readonly string[]): Promise<void> {
  const redis = new Redis(url);
  const names = ['records', 'keys', 'expiries', 'commits'];
  const keys = prefixes.flatMap((prefix) => names.map((name) => `{${prefix}}:${name}`));
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
}
