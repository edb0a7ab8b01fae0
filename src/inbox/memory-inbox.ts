import { settledWithin } from '../internal/deadline.ts';
import { describeError } from '../internal/driver-error.ts';
import { defineOptions, integer, type OptionTable } from '../internal/options.ts';
import { readDeadLetterQuery, toDeadLetter } from './dead-letters.ts';
import { inboxStopped } from './handling-attempt.ts';
import { type HandlingOptions, handlingRows } from './handling-options.ts';
import type { Delivery, InboxHost, ManagedInbox } from './inbox.ts';
import { defaultStopMs, hasHost } from './inbox.ts';
import { memoryDeduplication } from './memory-deduplication.ts';

/** Options of {@link memoryInbox}. */
export interface MemoryInboxOptions
  extends Pick<HandlingOptions, 'maxAttempts' | 'timeLimitMs' | 'rememberMs' | 'now'> {
  /** How many of the newest handled deliveries are remembered at least; twice as many at most. @default 10000 */
  maxRemembered?: number | undefined;
  /** Most failing deliveries and dead letters kept; beyond it the oldest is dropped. @default 1000 */
  maxDeadLetters?: number | undefined;
}

interface Failing {
  readonly delivery: Delivery;
  readonly receivedAt: number;
  attempts: number;
  reason: string;
}

const readOptions = defineOptions('memoryInbox', {
  maxAttempts: handlingRows.maxAttempts,
  timeLimitMs: handlingRows.timeLimitMs,
  rememberMs: handlingRows.rememberMs,
  now: handlingRows.now,
  maxRemembered: integer({ default: 10_000 }),
  maxDeadLetters: integer({ default: 1_000 }),
} satisfies OptionTable<MemoryInboxOptions>);

/**
 * An inbox in memory, for one process. It handles before it acknowledges, since memory does not survive a crash: a
 * delivery that fails is answered 500, and each repetition by the sender is another attempt, also of a dead letter.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function memoryInbox(options: MemoryInboxOptions = {}): ManagedInbox {
  const { maxAttempts, timeLimitMs, rememberMs, now, maxRemembered, maxDeadLetters } = readOptions(options);
  const remembered = memoryDeduplication({ maxRemembered, rememberMs, timeLimitMs, now });
  const failing = new Map<string, Failing>();
  let host: InboxHost | undefined;
  let stopped = false;

  function countFailure(delivery: Delivery, error: unknown, durationMs: number): void {
    const entry = failing.get(delivery.digest) ?? {
      delivery,
      receivedAt: now(),
      attempts: 0,
      reason: '',
    };
    entry.attempts++;
    entry.reason = describeError(error);
    failing.set(delivery.digest, entry);
    for (const oldest of failing.keys()) {
      if (failing.size <= maxDeadLetters) break;
      failing.delete(oldest);
    }
    // Without the error: `receive` rejects with it.
    if (entry.attempts === maxAttempts)
      host?.report(delivery, { outcome: 'dead', attempt: maxAttempts, durationMs });
  }

  const inbox: ManagedInbox = {
    attach(given) {
      if (host !== undefined) throw hasHost();
      host = given;
    },
    async receive(delivery, handle) {
      if (stopped) throw inboxStopped();
      const result = await remembered.receive(delivery, async (handleOptions) => {
        const begun = performance.now();
        // The time limit rejects outside of this function, and has to be counted too.
        const cutOff = () => countFailure(delivery, handleOptions?.signal?.reason, performance.now() - begun);
        handleOptions?.signal?.addEventListener('abort', cutOff);
        try {
          return await handle(handleOptions);
        } catch (error) {
          if (!handleOptions?.signal?.aborted) countFailure(delivery, error, performance.now() - begun);
          throw error;
        } finally {
          handleOptions?.signal?.removeEventListener('abort', cutOff);
        }
      });
      if (result === 'handled' || result === 'ignored') failing.delete(delivery.digest);
      return result;
    },
    async deadLetters(query = {}) {
      const { limit, withBody } = readDeadLetterQuery(query);
      const listed = dead().slice(0, limit);
      return listed.map((entry) => toDeadLetter(entry, withBody));
    },
    async deadLetter(digest) {
      const entry = findDead(digest);
      return entry && toDeadLetter(entry, true);
    },
    async replay(digest) {
      const entry = findDead(digest);
      if (entry === undefined) return false;
      const { delivery } = entry;
      const result = await inbox.receive(
        delivery,
        (handleOptions) => host?.handle(delivery, handleOptions) ?? Promise.resolve('put-back'),
      );
      // Otherwise a repetition is being handled right now and will report its result.
      return result === 'handled';
    },
    async discard(digest) {
      if (findDead(digest) === undefined) return false;
      remembered.remember(digest);
      return failing.delete(digest);
    },
    async counts() {
      return { open: remembered.active().length, dead: dead().length };
    },
    async health() {
      return { ...(await inbox.counts()), quarantined: 0, oldestAgeMs: null };
    },
    async stop({ timeoutMs = defaultStopMs } = {}) {
      stopped = true;
      if (await settledWithin(remembered.active(), timeoutMs)) return 'drained';
      remembered.cutOff(inboxStopped());
      return 'cut-off';
    },
  };

  function dead(): Failing[] {
    return [...failing.values()].filter(({ attempts }) => attempts >= maxAttempts);
  }

  function findDead(digest: string): Failing | undefined {
    const entry = failing.get(digest);
    return entry !== undefined && entry.attempts >= maxAttempts ? entry : undefined;
  }

  return inbox;
}
