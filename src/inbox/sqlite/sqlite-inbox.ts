import { InboxError } from '../../errors/inbox-error.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { backoffDelay } from '../../runtime/backoff.ts';
import { longestTimerMs } from '../../runtime/longest-timer.ts';
import { type Sleep, sleep } from '../../runtime/sleep.ts';
import type { LeasedDelivery } from '../attempt.ts';
import { durableInbox } from '../durable-inbox.ts';
import { checkHandling, type HandlingOptions, invalid, wholeNumber } from '../handling-options.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import { groupCommit } from './group-commit.ts';
import { openSqliteStore } from './sqlite-store.ts';

export interface SqliteInboxOptions extends HandlingOptions {
  /** The database file, on a local disk (not on a network share). Several processes may share it. */
  path: string;
  /**
   * Bytes of the file at most, its `-wal` file not counted; beyond it deliveries are answered 503, and what is handled
   * makes room. On a disk that is full itself nothing can be written down as handled until there is room.
   * @default no limit but the disk
   */
  maxBytes?: number | undefined;
  /** Milliseconds between two looks for what other processes stored. @default 500 */
  pollMs?: number | undefined;
  /** Milliseconds to wait for another process that writes; the event loop waits with it. @default 1000 */
  busyTimeoutMs?: number | undefined;
  /** Resolves after so many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

const defaults = Object.freeze({
  pollMs: 500,
  busyTimeoutMs: 1_000,
  forgetEveryMs: 60_000,
});

/**
 * A durable inbox in one file: stored and on disk before it is acknowledged, handled by this process or another one
 * on the same machine. For many machines there are the adapters to BullMQ and pg-boss.
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
  const handling = checkHandling(options);
  const { timeLimitMs, now } = handling;
  if (typeof options.path !== 'string' || options.path === '') throw invalid('sqliteInbox needs a path.');
  const pollMs = wholeNumber('pollMs', options.pollMs ?? defaults.pollMs, longestTimerMs);
  const busyTimeoutMs = wholeNumber('busyTimeoutMs', options.busyTimeoutMs ?? defaults.busyTimeoutMs, 60_000);
  const wait = options.sleep ?? sleep;
  // The time limit comes first, with room to write down that it was reached.
  const leaseMs = timeLimitMs + Math.min(timeLimitMs, 5_000);
  const longestWaitMs = Math.min(
    Math.max(leaseMs, handling.retry.maxDelayMs) + 60_000,
    Number.MAX_SAFE_INTEGER,
  );
  const { path, maxBytes } = options;
  if (maxBytes !== undefined) wholeNumber('maxBytes', maxBytes);
  const store = orRefuse(() =>
    openSqliteStore({ ...handling, path, maxBytes, busyTimeoutMs, leaseMs, longestWaitMs }),
  );
  const write = groupCommit(store.database);

  let worker: Worker | undefined;
  let forgetAt = Number.NEGATIVE_INFINITY;

  const source: WorkSource<LeasedDelivery> = {
    async take(limit) {
      const pauseMs = store.untilNext(now());
      if (pauseMs === undefined || pauseMs > 0) {
        return { taken: [], dead: [], pauseMs: pauseMs ?? Number.POSITIVE_INFINITY };
      }
      return { ...(await write(() => store.take(limit, now()))), pauseMs: 0 };
    },
    settle: (taken, { outcome, error }) =>
      write(() => {
        if (outcome === 'dead') return store.bury(taken, describeError(error));
        if (outcome === 'failed') {
          return store.postpone(
            taken,
            now() + backoffDelay(taken.attempt, handling.retry, handling.random),
            describeError(error),
          );
        }
        store.remove(taken.delivery.digest);
        return true;
      }),
    release: (left) =>
      write(() => {
        for (const taken of left) store.postpone(taken, now(), 'Cut off by a stop.');
      }),
    async tidy() {
      if (performance.now() < forgetAt) return;
      const more = await write(() => store.forget(now()));
      forgetAt = performance.now() + (more ? 0 : defaults.forgetEveryMs);
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
      deadLetters: async ({ limit }) => orRefuse(() => store.deadLetters(limit)),
      async replay(digest) {
        const found = await write(() => store.replay(digest, now())).catch(refuse);
        worker?.wake();
        return found;
      },
      discard: (digest) => write(() => store.discard(digest)).catch(refuse),
      counts: async () => orRefuse(() => store.counts()),
      async stop(timeoutMs) {
        const end = (await worker?.stop(timeoutMs)) ?? 'drained';
        // What was received before is written first.
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
  const full = cause instanceof Error && 'errcode' in cause && cause.errcode === fullCode;
  return full
    ? new InboxError('store_full', 'The disk of the inbox is full: the delivery was not acknowledged.', {
        cause,
      })
    : new InboxError('store_unavailable', 'The file of the inbox cannot be used now.', { cause });
}
