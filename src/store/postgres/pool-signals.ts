import { backoffDelay, sleep } from '../../internal/backoff.ts';
import { settledWithin } from '../../internal/deadline.ts';
import type { PgPool } from './pg-client.ts';

/** The parts of a `Client` of pg that listens. */
interface ListeningClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'notification', listener: (message: { readonly payload?: string }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  unref?(): void;
}

interface Watcher {
  readonly topic: string;
  readonly onNotify: () => void;
}

const channel = 'partner_exchange';
const backoff = { firstDelayMs: 500, maxDelayMs: 60_000 };
const endMs = 1_000;

/**
 * Signals between the processes of one database, by LISTEN and NOTIFY. They may be lost: whoever watches looks by itself,
 * too. The listening connection is beside the pool, so that it takes no place in it, and `pool.end()` does not wait for it.
 *
 * @param query on the pool, within its limits
 */
export function poolSignals(pool: PgPool, query: (text: string, values: unknown[]) => Promise<unknown>) {
  const openClient = clientMaker(pool);
  const watchers = new Set<Watcher>();
  const waiting = new Set<string>();
  let isSending = false;
  let ending: AbortController | undefined;
  let listening: Promise<void> = Promise.resolve();

  async function send(): Promise<void> {
    isSending = true;
    while (waiting.size > 0) {
      const topics = [...waiting];
      waiting.clear();
      await query('SELECT pg_notify($1, topic) FROM unnest($2::text[]) AS topic', [channel, topics]).catch(
        () => {},
      );
    }
    isSending = false;
  }

  async function listen(open: () => ListeningClient, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      failures = (await listenOnce(open, signal)) ? 1 : failures + 1;
      await sleep(backoffDelay(failures, backoff), signal);
    }
  }

  /** Resolves when the connection is lost, with whether there was one. */
  async function listenOnce(open: () => ListeningClient, signal: AbortSignal): Promise<boolean> {
    const client = open();
    const { promise: isLost, resolve } = Promise.withResolvers<void>();
    const lose = () => resolve();
    signal.addEventListener('abort', lose);
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', ({ payload }) => wake(payload));
    let isListening = false;
    async function begin(): Promise<void> {
      await client.connect();
      client.unref?.();
      await client.query(`LISTEN ${channel}`);
      isListening = true;
      // Something may have come while there was no connection.
      wake();
    }
    await Promise.race([begin().then(() => isLost, lose), isLost]);
    signal.removeEventListener('abort', lose);
    const closing = (async () => client.end())().catch(() => {});
    await settledWithin([closing], endMs);
    return isListening;
  }

  function wake(topic?: string): void {
    for (const watcher of watchers) if (topic === undefined || topic === watcher.topic) watcher.onNotify();
  }

  return {
    /** Nothing waits for it. While one signal is sent, the others become one: NOTIFY holds up other commits. */
    notify(topic: string): void {
      waiting.add(topic);
      if (!isSending) void send();
    },

    /** @returns how to end it */
    watch(topic: string, onNotify: () => void): () => void {
      const watcher = { topic, onNotify };
      watchers.add(watcher);
      if (ending === undefined && openClient !== undefined) {
        ending = new AbortController();
        listening = listen(openClient, ending.signal);
      }
      return () => {
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        ending?.abort();
        ending = undefined;
      };
    },

    /** Resolves when the connection is closed. */
    async close(): Promise<void> {
      watchers.clear();
      ending?.abort();
      ending = undefined;
      await listening;
    },
  };
}

/** As the pool makes its clients; `undefined` for a pool that does not say how. */
function clientMaker(pool: PgPool): (() => ListeningClient) | undefined {
  // Sound: pg-pool has them, and another pool may have neither.
  const { Client, options } = pool as { Client?: unknown; options?: unknown };
  if (typeof Client !== 'function' || typeof options !== 'object') return undefined;
  // Sound: it is the class that the pool itself calls so.
  const Class = Client as new (options: unknown) => ListeningClient;
  return () => new Class(options);
}
