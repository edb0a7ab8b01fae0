import { InboxError, isStoreError, partsOf } from '../errors/errors.ts';
import { storeRemedies } from '../errors/remedies.ts';
import { driverError } from '../internal/driver-error.ts';
import { checkInteger, invalidOption } from '../internal/options.ts';
import { limitCalls } from '../store/limited-calls.ts';
import { isNewerFormat } from '../store/stored-form.ts';
import { inboxStopped } from './handling-attempt.ts';
import type { Handling } from './handling-options.ts';
import type {
  DeadLetter,
  Delivery,
  DeliveryStatus,
  Inbox,
  InboxCounts,
  InboxHost,
  ManagedInbox,
} from './inbox.ts';
import {
  type DeadLetterQuery,
  type DeadLetterRead,
  defaultStopMs,
  hasHost,
  readDeadLetterQuery,
  readDeadLetterRead,
} from './inbox.ts';

import { type CountedQuarantine, untilStop } from './quarantine/quarantine.ts';

const defaultLimit = 100;

/** What an engine does for its inbox. */
export interface InboxEngine {
  store(delivery: Delivery): Promise<'stored' | 'duplicate'>;
  /** Starts handling. Called at most once, and never with `role: 'receiver'`. */
  start(host: InboxHost): void;
  deadLetters(query: DeadLetterQuery): Promise<DeadLetter[]>;
  deadLetter(digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined>;
  replay(digest: string): Promise<boolean>;
  discard(digest: string): Promise<boolean>;
  counts(): Promise<Omit<InboxCounts, 'quarantined'>>;
  /** When the oldest open delivery was received, as far as the engine can tell; `undefined` if none is open. */
  oldestReceivedAt(): Promise<number | undefined>;
  find(beginning: string, limit: number): Promise<DeliveryStatus[]>;
  held(limit: number): Promise<DeliveryStatus[]>;
  readonly quarantine: CountedQuarantine | undefined;
  /** Called at most once; nothing is stored after it. */
  stop(timeoutMs: number): Promise<'drained' | 'cut-off'>;
}

/** Belongs to one host, and accepts nothing once it stops. */
export function durableInbox(
  engine: InboxEngine,
  { role, now }: Required<Pick<Inbox, 'role'>> & Pick<Handling, 'now'>,
): ManagedInbox {
  let attached = false;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;
  let stopped = false;

  function checkOpen(): void {
    if (stopped) throw inboxStopped();
  }

  const { quarantine } = engine;

  function checkReceives(): void {
    if (stopping !== undefined) throw inboxStopped();
  }

  return {
    role,
    quarantine: quarantine && untilStop(quarantine, checkReceives),
    attach(host) {
      if (attached) throw hasHost();
      attached = true;
      if (role !== 'receiver') engine.start(host);
    },
    async receive(delivery) {
      checkReceives();
      return await engine.store(delivery);
    },
    async deadLetters(options = {}) {
      checkOpen();
      return await engine.deadLetters(readDeadLetterQuery(options));
    },
    async deadLetter(digest, options = {}) {
      checkOpen();
      return await engine.deadLetter(checkDigest(digest), readDeadLetterRead(options));
    },
    async replay(digest) {
      checkOpen();
      return await engine.replay(checkDigest(digest));
    },
    async discard(digest) {
      checkOpen();
      return await engine.discard(checkDigest(digest));
    },
    async find(beginning, limit = defaultLimit) {
      checkOpen();
      return await engine.find(checkDigest(beginning), checkInteger('limit', limit));
    },
    async held(limit = defaultLimit) {
      checkOpen();
      return await engine.held(checkInteger('limit', limit));
    },
    async counts() {
      checkOpen();
      const [counts, quarantined = 0] = await Promise.all([engine.counts(), quarantine?.count()]);
      return quarantined === 0 ? counts : { ...counts, quarantined };
    },
    async health() {
      checkOpen();
      const [counts, oldest, quarantined = 0] = await Promise.all([
        engine.counts(),
        engine.oldestReceivedAt(),
        quarantine?.count(),
      ]);
      const oldestAgeMs = oldest === undefined ? null : Math.max(0, Math.round(now() - oldest));
      return { ...counts, quarantined, oldestAgeMs };
    },
    stop({ timeoutMs = defaultStopMs } = {}) {
      stopping ??= engine.stop(timeoutMs).finally(() => {
        stopped = true;
      });
      return stopping;
    },
  };
}

function checkDigest(digest: unknown): string {
  if (typeof digest === 'string') return digest;
  throw invalidOption('digest must be the digest of a dead letter, which is a string.');
}

/** Rejects with an {@link InboxError} at the latest when the time is over. */
type CallStore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** The sender of a webhook does not wait longer either. */
export function limitStoreCalls(limits: { storeTimeoutMs: number; maxPending: number }): CallStore {
  const { storeTimeoutMs: timeoutMs, maxPending } = limits;
  const tooMany = () =>
    new InboxError('store_unavailable', `${maxPending} deliveries wait for the store of the inbox.`);
  const call = limitCalls({ timeoutMs, maxPending, tooMany });
  return (work) => call(work, toInboxError);
}

/** The error of a store, as the sender of a webhook and `onStoreError` get it. */
export function toInboxError(error: unknown): InboxError {
  const cause = driverError(error);
  if (isStoreError(error)) {
    if (error.code === 'disk_full')
      return new InboxError('store_full', 'The disk of the inbox is full.', { cause });
    // It knows more: a file was replaced, or a newer version wrote a record.
    const { what, remedy } = partsOf(error);
    if (isNewerFormat(error) || remedy !== storeRemedies[error.code])
      return new InboxError('store_unavailable', what, { cause, remedy });
  }
  return new InboxError('store_unavailable', 'The store of the inbox cannot be used now.', { cause });
}
