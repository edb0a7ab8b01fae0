import { InboxError } from '../../errors/inbox-error.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { checkInteger, invalidOption } from '../../options/check-values.ts';
import { describeError } from '../../redaction/describe-error.ts';
import { settledWithin } from '../../runtime/settled-within.ts';
import { checkDeadLetterOptions, checkDeadLetterRead, type DeadLetterRead } from '../dead-letter-options.ts';
import { checkHandling, type HandlingOptions } from '../handling-options.ts';
import type { Delivery, InboxHost } from '../inbox.ts';
import type { DeadLetter, ManagedInbox } from '../managed-inbox.ts';
import { memoryDeduplication } from './memory-deduplication.ts';

export interface MemoryInboxOptions
  extends Pick<HandlingOptions, 'maxAttempts' | 'timeLimitMs' | 'rememberMs' | 'now'> {
  /** Most handled deliveries remembered; beyond it the oldest is forgotten. @default 10000 */
  maxRemembered?: number | undefined;
  /** Most failing deliveries and dead letters kept; beyond it the oldest is dropped. @default 1000 */
  maxDeadLetters?: number | undefined;
}

interface Failing {
  readonly delivery: Delivery;
  readonly receivedAt: Date;
  attempts: number;
  reason: string;
}

const names: OptionNames<MemoryInboxOptions> = {
  maxAttempts: true,
  timeLimitMs: true,
  rememberMs: true,
  now: true,
  maxRemembered: true,
  maxDeadLetters: true,
};

const defaults = Object.freeze({ maxRemembered: 10_000, maxDeadLetters: 1_000, stopTimeoutMs: 10_000 });

/**
 * An inbox in memory, for one process. It handles before it acknowledges, since memory does not survive a crash: a
 * delivery that fails is answered 500, and each repetition by the sender is another attempt, also of a dead letter.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function memoryInbox(options: MemoryInboxOptions = {}): ManagedInbox {
  checkNames('memoryInbox', options, names);
  const { maxAttempts, timeLimitMs, rememberMs, now } = checkHandling(options);
  const maxRemembered = checkInteger('maxRemembered', options.maxRemembered ?? defaults.maxRemembered);
  const maxDeadLetters = checkInteger('maxDeadLetters', options.maxDeadLetters ?? defaults.maxDeadLetters);
  const remembered = memoryDeduplication({ maxRemembered, rememberMs, timeLimitMs, now, stoppable: true });
  const failing = new Map<string, Failing>();
  let host: InboxHost | undefined;
  let stopped = false;

  function countFailure(delivery: Delivery, error: unknown, durationMs: number): void {
    const entry = failing.get(delivery.digest) ?? {
      delivery,
      receivedAt: new Date(now()),
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
    // Without the error: whoever waits for the answer gets it.
    if (entry.attempts === maxAttempts)
      host?.report(delivery, { outcome: 'dead', attempt: maxAttempts, durationMs });
  }

  const inbox: ManagedInbox = {
    attach(given) {
      if (host !== undefined)
        throw invalidOption('An inbox belongs to one createWebhooks: make another one.');
      host = given;
    },
    async receive(delivery, handle) {
      if (stopped) throw new InboxError('inbox_stopped', 'The inbox was stopped.');
      const result = await remembered.receive(delivery, async (handleOptions) => {
        const begun = performance.now();
        // The time limit rejects outside of this function, and has to be counted too.
        const cutOff = () => countFailure(delivery, handleOptions?.signal?.reason, performance.now() - begun);
        handleOptions?.signal?.addEventListener('abort', cutOff);
        try {
          await handle(handleOptions);
        } catch (error) {
          if (!handleOptions?.signal?.aborted) countFailure(delivery, error, performance.now() - begun);
          throw error;
        } finally {
          handleOptions?.signal?.removeEventListener('abort', cutOff);
        }
      });
      if (result === 'handled') failing.delete(delivery.digest);
      return result;
    },
    async deadLetters(deadLetterOptions) {
      const { limit, ...read } = checkDeadLetterOptions(deadLetterOptions);
      return dead()
        .slice(0, limit)
        .map((entry) => toDeadLetter(entry, read));
    },
    async deadLetter(digest, readOptions) {
      const read = checkDeadLetterRead(readOptions);
      const entry = findDead(digest);
      return entry && toDeadLetter(entry, read);
    },
    async replay(digest) {
      const entry = findDead(digest);
      if (entry === undefined) return false;
      const { delivery } = entry;
      const result = await inbox.receive(
        delivery,
        (handleOptions) => host?.handle(delivery, handleOptions) ?? Promise.resolve(),
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
      return { open: remembered.size.active, dead: dead().length };
    },
    async stop({ timeoutMs = defaults.stopTimeoutMs } = {}) {
      stopped = true;
      if (await settledWithin(remembered.active(), timeoutMs)) return 'drained';
      remembered.cutOff(
        new InboxError('inbox_stopped', 'The inbox was stopped while the handler was running.'),
      );
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

function toDeadLetter(
  { delivery: { digest, name, body }, receivedAt, attempts, reason }: Failing,
  { withBody }: DeadLetterRead,
): DeadLetter {
  return { digest, name, attempts, receivedAt, reason, ...(withBody && { body }) };
}
