import { InboxError } from '../../errors/errors.ts';
import { backoffDelay, type Sleep, sleep } from '../../internal/backoff.ts';
import {
  callback,
  defineOptions,
  integer,
  type OptionTable,
  optional,
  timerMs,
} from '../../internal/options.ts';
import { isFull, readWhenFree } from '../../internal/sqlite-busy.ts';
import { checkDatabasePath, groupCommit } from '../../internal/sqlite-database.ts';
import { durableInbox } from '../durable-inbox.ts';
import { type HandlingOptions, handlingRows, leaseMsOf, longestWaitMsOf } from '../handling-options.ts';
import type { ManagedInbox } from '../inbox.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import { diskFull, openSqliteStore, type SqliteLease } from './delivery-table.ts';

/** Options of {@link sqliteInbox}. */
export interface SqliteInboxOptions extends HandlingOptions {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It holds
   * personal data, so it is made with mode 0600, and an existing file that others can read is changed to that. A file of
   * another user is refused. If the file is deleted or replaced while it is open, deliveries are answered 503 until the
   * process restarts.
   */
  path: string;
  /**
   * Most bytes of the file, without its `-wal`. Beyond it deliveries are answered 503; handled ones make room. With less
   * than 4 MB free on the disk they are answered 503 too: the rest is for handling stored deliveries.
   * @default no limit but the disk
   */
  maxBytes?: number | undefined;
  /** Milliseconds between two checks for what other processes stored. @default 500 */
  pollMs?: number | undefined;
  /**
   * Milliseconds for which a delivery waits while another process writes; then it is answered 503. The wait blocks the
   * event loop only while tables are made when the file is opened. @default 1000
   */
  busyTimeoutMs?: number | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const readOptions = defineOptions('sqliteInbox', {
  ...handlingRows,
  path: (given) => checkDatabasePath('sqliteInbox', given),
  maxBytes: optional(integer()),
  pollMs: timerMs({ default: 500 }),
  busyTimeoutMs: integer({ default: 1_000, most: 60_000 }),
  sleep: callback({ default: sleep }),
} satisfies OptionTable<SqliteInboxOptions>);

/** How often old digests are forgotten. */
const tidyEveryMs = 60_000;

/**
 * A durable inbox in one file. A delivery is on disk before it is acknowledged, and is handled by this process or
 * another one on the same machine. For many machines use the inboxes for BullMQ and pg-boss.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @throws {InboxError} `store_unavailable` when the file cannot be opened
 * @example
 * ```ts
 * const inbox = sqliteInbox({ path: 'inbox.sqlite' });
 * const webhooks = createWebhooks({ credentials, inbox }).on('event.buy.credited.crypto', (event) =>
 *   applyOnce(effectKey(event), event),
 * );
 * ```
 */
export function sqliteInbox(options: SqliteInboxOptions): ManagedInbox {
  const settings = readOptions(options);
  const { retry, random, now, busyTimeoutMs } = settings;
  const times = { leaseMs: leaseMsOf(settings), longestWaitMs: longestWaitMsOf(settings) };
  const store = withStoreErrors(() => openSqliteStore({ ...settings, ...times }));
  const write = groupCommit(store.database, {
    busyTimeoutMs,
    beforeBegin: store.beforeBegin,
    afterCommit: store.checkFile,
  });

  const look = <Result>(work: () => Result): Promise<Result> =>
    readWhenFree(() => {
      store.checkFile();
      return work();
    }, busyTimeoutMs);
  const read = <Result>(work: () => Result): Promise<Result> => look(work).catch(rejectWithStoreError);

  let worker: Worker | undefined;
  let tidyAt = Number.NEGATIVE_INFINITY;

  /** On a full disk there may be room for one. */
  async function lease(limit: number): Promise<SqliteLease[]> {
    try {
      return await write(() => store.lease(limit, now()));
    } catch (error) {
      if (limit === 1 || !isFull(error)) throw error;
      return await write(() => store.lease(1, now()));
    }
  }

  const source: WorkSource<SqliteLease> = {
    async lease(limit) {
      const pauseMs = await look(() => store.untilNext(now()));
      if (pauseMs === undefined || pauseMs > 0) {
        return { leased: [], pauseMs: pauseMs ?? Number.POSITIVE_INFINITY };
      }
      return { leased: await lease(limit), pauseMs: 0 };
    },
    isIsolatedDue: () => look(() => store.isIsolatedDue(now())),
    leaseIsolated: () => write(() => store.leaseIsolated(now())),
    remove: (leased) => write(() => store.remove(leased.delivery.digest)),
    postpone: (leased, reason) =>
      write(() => store.postpone(leased, now() + backoffDelay(leased.attempt, retry, random), reason)),
    putBack: (leased, delayMs) => write(() => store.putBack(leased, now() + delayMs)),
    moveToDeadLetters: (leased, reason) => write(() => store.moveToDeadLetters(leased, reason)),
    release: (left) =>
      write(() => {
        for (const leased of left) store.postpone(leased, now(), 'Cut off by a stop.');
      }),
    async tidy() {
      if (performance.now() < tidyAt) return;
      const more = await write(() => store.forget(now()));
      tidyAt = performance.now() + (more ? 0 : tidyEveryMs);
    },
  };

  return durableInbox(
    {
      async store(delivery) {
        const result = await write(() => store.insert(delivery, now())).catch(rejectWithStoreError);
        if (result === 'stored') worker?.wake();
        return result;
      },
      start(host) {
        worker = startWorker(source, { host, ...settings });
      },
      deadLetters: (query) => read(() => store.deadLetters(query)),
      deadLetter: (digest, readOptions) => read(() => store.deadLetter(digest, readOptions)),
      async replay(digest) {
        const found = await write(() => store.replay(digest, now())).catch(rejectWithStoreError);
        worker?.wake();
        return found;
      },
      discard: (digest) => write(() => store.discard(digest)).catch(rejectWithStoreError),
      counts: () => read(() => store.counts()),
      async stop(timeoutMs) {
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        // Write first what was received before.
        await write(() => undefined).catch(() => {});
        store.close();
        return end;
      },
    },
    settings,
  );
}

function withStoreErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

function rejectWithStoreError(error: unknown): never {
  throw storeError(error);
}

function storeError(cause: unknown): InboxError {
  if (cause instanceof InboxError) return cause;
  return isFull(cause)
    ? diskFull(cause)
    : new InboxError('store_unavailable', 'The file of the inbox cannot be used now.', { cause });
}
