import { createHash } from 'node:crypto';
import { isStoreError } from '../../errors/errors.ts';
import { defineScript, type IoredisClient } from '../../store/redis/redis-client.ts';
import { redisStore } from '../../store/redis/redis-store.ts';
import { limitedQuarantine } from '../quarantine/inbox-quarantine.ts';
import type { CountedQuarantine } from '../quarantine/quarantine.ts';
import { type RecordQuarantineOptions, recordQuarantine } from '../quarantine/record-quarantine.ts';
import type { BullQueue } from './bullmq-job.ts';

/** The parts of BullMQ's own client that we use, over ioredis, node-redis and others alike. */
interface BullClient {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  runCommand(name: string, values: string[]): Promise<unknown>;
}

interface BullmqQuarantineOptions extends Omit<RecordQuarantineOptions, 'prefix'> {
  readonly storeTimeoutMs: number;
  readonly maxPending: number;
}

/**
 * The quarantine of a queue, in a record store over the queue's own connection. Its keys begin with
 * `{partner-exchange-quarantine-…}`, made from the name of the queue. `undefined` if the queue is not on Redis.
 */
export function bullmqQuarantine(
  queue: BullQueue,
  options: BullmqQuarantineOptions,
): CountedQuarantine | undefined {
  const readClient = clientOf(queue);
  if (readClient === undefined) return undefined;
  const { storeTimeoutMs, now } = options;
  let opened: CountedQuarantine | undefined;

  async function open(): Promise<CountedQuarantine> {
    if (opened !== undefined) return opened;
    const client = scriptClient(await readClient?.());
    const digest = createHash('sha256')
      .update(queue.qualifiedName ?? queue.name)
      .digest('hex');
    const prefix = `partner-exchange-quarantine-${digest.slice(0, 16)}`;
    const store = redisStore({ client, prefix, storeTimeoutMs, now });
    opened ??= recordQuarantine(store, { ...options, prefix: '' });
    return opened;
  }

  /** If Redis was flushed, only best effort is lost: the next body is kept in an empty store. */
  async function use<Result>(work: (quarantine: CountedQuarantine) => Promise<Result>): Promise<Result> {
    try {
      return await work(await open());
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'store_lost') throw error;
      opened = undefined;
      return await work(await open());
    }
  }

  return limitedQuarantine(
    {
      keep: (body) => use((quarantine) => quarantine.keep(body)),
      list: (page) => use((quarantine) => quarantine.list(page)),
      remove: (ids) => use((quarantine) => quarantine.remove(ids)),
      count: () => use((quarantine) => quarantine.count()),
    },
    options,
  );
}

/** BullMQ 5 shows the client of a queue, and BullMQ 6 that of its backend. It is a promise, pending without Redis. */
function clientOf(queue: BullQueue): (() => unknown) | undefined {
  const owner = queue.getBackend?.() ?? queue;
  return 'client' in owner ? () => owner.client : undefined;
}

/** As ioredis runs scripts. */
function scriptClient(given: unknown): IoredisClient {
  // Sound: it is the client of the queue, whose scripts run in the same way.
  const client = given as BullClient;
  const defined = new Set<string>();
  return {
    async evalsha(sha: string, _: number, ...values: string[]): Promise<unknown> {
      if (!defined.has(sha)) throw new Error('NOSCRIPT');
      return await client.runCommand(commandName(sha), values);
    },
    async eval(lua: string, numberOfKeys: number, ...values: string[]): Promise<unknown> {
      const { sha } = defineScript(lua);
      if (!defined.has(sha)) client.defineCommand(commandName(sha), { numberOfKeys, lua });
      defined.add(sha);
      return await client.runCommand(commandName(sha), values);
    },
  };
}

function commandName(sha: string): string {
  return `partnerExchange_${sha}`;
}
