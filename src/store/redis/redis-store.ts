import { randomUUID } from 'node:crypto';
import { StoreError } from '../../errors/errors.ts';
import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { driverError } from '../../internal/driver-error.ts';
import { callback, defineOptions, invalidOption, type OptionTable, value } from '../../internal/options.ts';
import { warnOnce } from '../../internal/warn.ts';
import {
  type AppliedChange,
  afterAnyKey,
  applyChange,
  type RecordWrite,
  toStoredRecord,
} from '../apply-change.ts';
import { engineStore } from '../engine-store.ts';
import { sharedKeyQueue } from '../key-queue.ts';
import {
  limitEngineCalls,
  maybeWritten,
  nothingWritten,
  type StoreCallOptions,
  storeCallRows,
  storeConflict,
} from '../limited-calls.ts';
import { expiryGraceMs, type RecordSet, type RecordStore, type StoredRecord } from '../record-store.ts';
import {
  type IoredisClient,
  type NodeRedisClient,
  type Script,
  scriptRunner,
  toText,
} from './redis-client.ts';
import { commitScript, listScript, readScript, settingsScript } from './scripts.ts';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreCallOptions {
  /** Your client of ioredis or node-redis, of one server or a cluster. You close it. */
  client: IoredisClient | NodeRedisClient;
  /**
   * Begins the names of the four keys that hold everything, in braces, so that a cluster keeps them in one place:
   * `{partner-exchange}:records`. Stores of the same prefix are one store.
   *
   * @default 'partner-exchange'
   */
  prefix?: string | undefined;
  /** Milliseconds since 1970; decides what has expired. @default Date.now */
  now?: (() => number) | undefined;
}

const readOptions = defineOptions('redisStore', {
  // Sound: scriptRunner checks it.
  client: (given) => given as IoredisClient | NodeRedisClient,
  prefix: value(checkPrefix, { default: 'partner-exchange' }),
  now: callback({ default: Date.now }),
  ...storeCallRows,
} satisfies OptionTable<RedisStoreOptions>);

/** An attempt is lost only to a change that succeeded, so only very many writers need this many. */
const maxAttempts = 100;
const backoff = { firstDelayMs: 1, maxDelayMs: 20 };
/** Each commit cleans this many more records than it can add. */
const cleanedBesides = 10;

/**
 * A record store on your Redis, 5 or later: many processes and machines may use it.
 *
 * It reads, applies the change, and writes in one script if every value is still as it was read; otherwise it tries
 * again.
 *
 * It is as durable as your Redis: use `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`. A
 * failover to a replica can lose the last changes. If everything is gone that this store has seen, it refuses with
 * `store_lost` rather than repeat what was done.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * const store = redisStore({ client: new Redis(process.env.REDIS_URL) });
 * ```
 */
export function redisStore(options: RedisStoreOptions): RecordStore {
  const { client, prefix, now, storeTimeoutMs } = readOptions(options);
  const runScript = scriptRunner(client);
  const redisKeys = ['records', 'keys', 'expiries', 'commits'].map((name) => `{${prefix}}:${name}`);
  const call = limitEngineCalls(storeTimeoutMs);
  const inTurn = sharedKeyQueue(storeTimeoutMs);
  let areSettingsKnown = false;
  /** Empty until this process has seen the store. */
  let storeId = '';

  function run(script: Script, values: readonly string[]): Promise<unknown> {
    return call(
      () => runScript(script, redisKeys, values),
      (error) => nothingWritten(driverError(error)),
    );
  }

  async function read(script: Script, values: readonly string[]): Promise<unknown[]> {
    // Sound: the scripts that read return lists.
    const [status, ...found] = (await run(script, [storeId, ...values])) as unknown[];
    const id = toText(status);
    if (id === 'lost' || (id !== '' && storeId !== '' && id !== storeId)) throw recordsLost();
    if (id !== '') storeId = id;
    return found;
  }

  /** One attempt; `undefined` when a record was changed meanwhile. */
  async function attempt<Result>(
    keys: readonly string[],
    change: (records: RecordSet) => Result,
  ): Promise<{ result: Result } | undefined> {
    // Sound: the script returns these.
    const [time, reply] = (await read(readScript, [randomUUID(), ...keys])) as [unknown, unknown[]];
    const records = reply.map(toText);
    const at = now();
    const found = new Map<string, string>();
    for (const [index, key] of keys.entries()) {
      const record = parseRecord(records[index] ?? '', at);
      if (record !== undefined) found.set(key, record.text);
    }
    const { result, writes } = applyChange(keys, found, change);
    if (writes.size === 0) return { result };
    const values = [
      storeId,
      randomUUID(),
      String(Number(toText(time)) + storeTimeoutMs),
      String(at),
      String(expiryGraceMs),
      String(writes.size + cleanedBesides),
      String(keys.length),
      ...keys.flatMap((key, index) => [key, records[index] ?? '']),
      ...toArguments(writes),
    ];
    const outcome = await call(
      async () => {
        // Sound: the script returns a list.
        const [status] = (await runScript(commitScript, redisKeys, values)) as unknown[];
        const answer = toText(status);
        if (answer === 'late') throw new Error('Redis got the change after its time limit.');
        return answer;
      },
      (error) => maybeWritten(driverError(error)),
    );
    if (outcome === 'lost') throw recordsLost();
    return outcome === 'conflict' ? undefined : { result };
  }

  return engineStore({
    transact: (keys, change) =>
      inTurn(keys, async () => {
        for (let attempts = 1; ; attempts++) {
          const done = await attempt(keys, change);
          if (done !== undefined) return done.result;
          if (attempts === maxAttempts) throw storeConflict();
          await sleep(backoffDelay(attempts, backoff));
        }
      }),

    async list({ prefix: start, after = '', limit }) {
      const at = now();
      const listed: StoredRecord[] = [];
      const greatest = `(${start}${afterAnyKey}`;
      let least = after >= start ? `(${after}` : `[${start}`;
      for (;;) {
        const values = [least, greatest, String(limit - listed.length), String(at)];
        // Sound: the script returns these.
        const [last, found] = (await read(listScript, values)) as [unknown, unknown[]];
        for (let index = 0; index < found.length; index += 2) {
          const record = parseRecord(toText(found[index + 1]), at);
          if (record !== undefined) listed.push(toStoredRecord(toText(found[index]), record));
        }
        if (listed.length >= limit || toText(last) === '') return listed;
        least = `(${toText(last)}`;
      }
    },

    async tidy() {
      if (areSettingsKnown) return;
      areSettingsKnown = true;
      warnOfSettings(await run(settingsScript, []));
    },
  });
}

function recordsLost(): StoreError {
  const message =
    'Redis no longer holds the records that this process has used: it was flushed, lost its data, or another server took over.';
  return new StoreError('store_lost', message);
}

/** Redis may refuse to tell its settings. */
function warnOfSettings(settings: unknown): void {
  const policy = /^maxmemory_policy:(allkeys-\S*)/m.exec(toText(settings))?.[1];
  if (policy !== undefined)
    warnOnce(`Redis drops records of redisStore when its memory is full: maxmemory-policy is ${policy}.`);
  if (/^aof_enabled:0/m.test(toText(settings)))
    warnOnce('Redis loses records of redisStore when it ends: it has no append-only file (appendonly no).');
}

/** `undefined` if it is missing or has expired. */
function parseRecord(record: string, at: number): RecordWrite | undefined {
  const end = record.indexOf('|');
  if (end < 0) return undefined;
  const expiresAt = end === 0 ? undefined : Number(record.slice(0, end));
  if (expiresAt !== undefined && expiresAt <= at) return undefined;
  return { text: record.slice(end + 1), expiresAt };
}

function toArguments(writes: AppliedChange<unknown>['writes']): string[] {
  return [...writes].flatMap(([key, write]) => {
    if (write === undefined) return [key, '', ''];
    const expiry = String(write.expiresAt ?? '');
    return [key, expiry, `${expiry}|${write.text}`];
  });
}

function checkPrefix(prefix: unknown): string {
  if (typeof prefix === 'string' && /^[\x21-\x7e]{1,64}$/.test(prefix) && !/[{}]/.test(prefix)) return prefix;
  throw invalidOption('prefix must be 1 to 64 printable ASCII characters without blanks and braces.');
}
