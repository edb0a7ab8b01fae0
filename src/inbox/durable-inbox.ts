import { InboxError, isStoreError, partsOf } from '../errors/errors.ts';
import { storeRemedies } from '../errors/remedies.ts';
import { driverError } from '../internal/driver-error.ts';
import { limitCalls } from '../internal/limited-calls.ts';
import { checkInteger, invalidOption } from '../internal/options.ts';
import { isNewerFormat } from '../internal/stored-version.ts';
import { inboxStopped } from './handling-attempt.ts';
import type { Handling } from './handling-options.ts';
import type {
  DeadLetter,
  Delivery,
  DeliveryStory,
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
  readonly stories?: ((beginning: string, limit: number) => Promise<DeliveryStory[]>) | undefined;
  readonly held?: ((limit: number) => Promise<DeliveryStory[]>) | undefined;
  readonly quarantine?: CountedQuarantine | undefined;
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

  const { quarantine, stories, held } = engine;

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
    ...(stories && {
      async stories(beginning: string, limit = defaultLimit) {
        checkOpen();
        return await stories(checkDigest(beginning), checkInteger('limit', limit));
      },
    }),
    ...(held && {
      async held(limit = defaultLimit) {
        checkOpen();
        return await held(checkInteger('limit', limit));
      },
    }),
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

/** The user's client of an engine. @throws {ConfigurationError} `invalid_option` unless it has all methods that we call */
export function checkMethods<Client extends object>(
  given: unknown,
  rules: { owner: string; what: string; versions: string; methods: readonly (keyof Client)[] },
): Client {
  // Sound: it is returned only with the methods that are called.
  const client = given as Client | undefined | null;
  const { owner, what, versions, methods } = rules;
  const missing = methods.find((method) => typeof client?.[method] !== 'function');
  if (client && missing === undefined) return client;
  if (missing === methods[0]) throw invalidOption(`${owner} needs ${what}.`);
  throw invalidOption(`${owner} needs ${versions}: the one given has no ${String(missing)}().`);
}

/** pg-boss, asked for no digest, would find every dead letter. */
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
