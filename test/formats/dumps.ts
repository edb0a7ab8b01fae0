import type { Redis } from 'ioredis';
import type { JsonValue } from '../../src/internal/json.ts';
import type { RecordStore, StoredRecord } from '../../src/store/record-store.ts';

/** Records of a store, as a fixture has them. */
export type RecordDump = readonly StoredRecord[];

export async function dumpRecords(store: RecordStore): Promise<RecordDump> {
  return await store.list({ prefix: '', limit: 1000 });
}

export async function loadRecords(store: RecordStore, dump: RecordDump): Promise<void> {
  await store.transact(
    dump.map(({ key }) => key),
    (records) => {
      for (const { key, value, expiresAt } of dump) records.set(key, value, { expiresAt });
    },
  );
}

/** A key of Redis. */
export interface RedisEntry {
  /** Without the prefix. */
  readonly key: string;
  readonly type: string;
  readonly value: JsonValue;
  /** Milliseconds for which it stays, from when it was dumped; -1 if it stays for good. */
  readonly leftMs: number;
}

const readers: Readonly<Record<string, (redis: Redis, key: string) => Promise<JsonValue>>> = {
  hash: (redis, key) => redis.hgetall(key),
  zset: (redis, key) => redis.zrange(key, '0', '-1', 'WITHSCORES'),
};

/** All keys with a prefix, in their order. What a stream says is no state, and left out. */
export async function dumpRedis(redis: Redis, prefix: string): Promise<RedisEntry[]> {
  const entries: RedisEntry[] = [];
  for (const key of (await redis.keys(`${prefix}*`)).sort()) {
    const type = await redis.type(key);
    const value = await readers[type]?.(redis, key);
    if (value === undefined) continue;
    entries.push({ key: key.slice(prefix.length), type, value, leftMs: await redis.pttl(key) });
  }
  return entries;
}

export async function loadRedis(redis: Redis, prefix: string, dump: readonly RedisEntry[]): Promise<void> {
  for (const { key, type, value, leftMs } of dump) {
    const name = prefix + key;
    // Sound: `dumpRedis` read the value of this type.
    const list = value as string[];
    if (type === 'hash') await redis.hset(name, value as Record<string, string>);
    if (type === 'zset')
      await redis.zadd(name, ...inPairs(list).flatMap(([member, score]) => [score, member]));
    if (leftMs >= 0) await redis.pexpire(name, leftMs);
  }
}

function inPairs(list: readonly string[]): [string, string][] {
  return list.flatMap((member, index) => (index % 2 === 0 ? [[member, list[index + 1] ?? '']] : []));
}
