import { InboxError } from '../../errors/inbox-error.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkFunction, checkInteger, checkTimerMs } from '../../options/check-values.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { backoffDelay } from '../../runtime/backoff.ts';
import { type Sleep, sleep } from '../../runtime/sleep.ts';
import { groupCommit } from '../../sqlite/group-commit.ts';
import { checkDatabasePath } from '../../sqlite/open-database.ts';
import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, handlingOptionNames } from '../handling-options.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import { openSqliteStore, type SqliteLease } from './sqlite-store.ts';

export interface SqliteInboxOptions extends HandlingOptions {
  /**
   * The database file, on a local disk (not on a network share). Several processes of one user may share it. It holds
   * personal data, so it is made with mode 0600, and an existing file that others can read is changed to that. If the
   * file is deleted or replaced while it is open, deliveries are answered 503 until the process restarts.
   */
  path: string;
  /**
   * Most bytes of the file, without its `-wal`. Beyond it deliveries are answered 503, and handled ones make room. On a
   * full disk nothing can be marked as handled until there is room.
   * @default no limit but the disk
   */
  maxBytes?: number | undefined;
  /** Milliseconds between two checks for what other processes stored. @default 500 */
  pollMs?: number | undefined;
  /** Milliseconds to wait for another process that writes; this blocks the event loop. @default 1000 */
  busyTimeoutMs?: number | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const names: OptionNames<SqliteInboxOptions> = {
  ...handlingOptionNames,
  path: true,
  maxBytes: true,
  pollMs: true,
  busyTimeoutMs: true,
  sleep: true,
};

const defaults = Object.freeze({ pollMs: 500, busyTimeoutMs: 1_000, sleep });
/** How often old digests are forgotten and handled bodies are removed from the `-wal`. */
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
 * const webhooks = createWebhooks({ credentials, inbox }).onAny((event, { digest }) => apply(event, digest));
 * ```
 */
export function sqliteInbox(options: SqliteInboxOptions): ManagedInbox {
  checkNames('sqliteInbox', options, names);
  const path = checkDatabasePath('sqliteInbox', options.path);
  const handling = checkHandling(options);
  const { timeLimitMs, now } = handling;
  const pollMs = checkTimerMs('pollMs', options.pollMs ?? defaults.pollMs);
  const busyTimeoutMs = checkInteger('busyTimeoutMs', options.busyTimeoutMs ?? defaults.busyTimeoutMs, {
    most: 60_000,
  });
  const wait = checkFunction('sleep', options.sleep ?? defaults.sleep);
  const maxBytes = options.maxBytes === undefined ? undefined : checkInteger('maxBytes', options.maxBytes);
  // The time limit ends before the lease, which leaves time to store the result.
  const leaseMs = timeLimitMs + Math.min(timeLimitMs, 5_000);
  const longestWaitMs = Math.min(
    Math.max(leaseMs, handling.retry.maxDelayMs) + 60_000,
    Number.MAX_SAFE_INTEGER,
  );
  const store = orRefuse(() =>
    openSqliteStore({ ...handling, path, maxBytes, busyTimeoutMs, leaseMs, longestWaitMs }),
  );
  const write = groupCommit(store.database, { afterCommit: store.checkFile });

  const read = <Result>(look: () => Result): Result =>
    orRefuse(() => {
      store.checkFile();
      return look();
    });

  let worker: Worker | undefined;
  let tidyAt = Number.NEGATIVE_INFINITY;

  const source: WorkSource<SqliteLease> = {
    async lease(limit) {
      store.checkFile();
      const pauseMs = store.untilNext(now());
      if (pauseMs === undefined || pauseMs > 0) {
        return { leased: [], pauseMs: pauseMs ?? Number.POSITIVE_INFINITY };
      }
      return { leased: await write(() => store.lease(limit, now())), pauseMs: 0 };
    },
    isAloneDue: async () => store.isAloneDue(now()),
    leaseAlone: () => write(() => store.leaseAlone(now())),
    settle: (leased, { outcome, error }) =>
      write(() => {
        if (outcome === 'dead') return store.moveToDeadLetters(leased, describeError(error));
        if (outcome === 'failed') {
          return store.postpone(
            leased,
            now() + backoffDelay(leased.attempt, handling.retry, handling.random),
            describeError(error),
          );
        }
        store.remove(leased.delivery.digest);
        return true;
      }),
    release: (left) =>
      write(() => {
        for (const leased of left) store.postpone(leased, now(), 'Cut off by a stop.');
      }),
    async tidy() {
      if (performance.now() < tidyAt) return;
      const more = await write(() => store.forget(now()));
      if (!more) store.emptyWal();
      tidyAt = performance.now() + (more ? 0 : tidyEveryMs);
    },
  };

  return durableInbox(
    {
      async store(delivery) {
        const result = await write(() => store.insert(delivery, now())).catch(refuse);
        if (result === 'stored') worker?.wake();
        return result;
      },
      start(host) {
        worker = startWorker(source, { host, handling, pollMs, sleep: wait });
      },
      deadLetters: async (query) => read(() => store.deadLetters(query)),
      deadLetter: async (digest, readOptions) => read(() => store.deadLetter(digest, readOptions)),
      async replay(digest) {
        const found = await write(() => store.replay(digest, now())).catch(refuse);
        worker?.wake();
        return found;
      },
      discard: (digest) => write(() => store.discard(digest)).catch(refuse),
      counts: async () => read(() => store.counts()),
      async stop(timeoutMs) {
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        // Write first what was received before.
        await write(() => undefined).catch(() => {});
        store.database.close();
        return end;
      },
    },
    handling,
  );
}

function orRefuse<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

function refuse(error: unknown): never {
  throw storeError(error);
}

/** SQLITE_FULL */
const fullCode = 13;

function storeError(cause: unknown): InboxError {
  if (cause instanceof InboxError) return cause;
  const full = cause instanceof Error && 'errcode' in cause && cause.errcode === fullCode;
  return full
    ? new InboxError('store_full', 'The disk of the inbox is full: the delivery was not acknowledged.', {
        cause,
      })
    : new InboxError('store_unavailable', 'The file of the inbox cannot be used now.', { cause });
}
