import type { MatchedKey } from '../credentials/verification-keys.ts';
import type { ConfigurationError } from '../errors/errors.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { DeadLetter, DeadLetterOptions } from './dead-letters.ts';
import type { Quarantine } from './quarantine/quarantine.ts';

/** Identifies an authentic delivery. */
export interface DeliveryReference {
  /** The `event_name`, or an empty string if there is none. */
  readonly name: string;
  /**
   * 64 hex digits (SHA-256), the same for every repetition of a delivery, even with other white space or with the next
   * generation of keys. Made from its partner and the signed text, and, under schemes that sign joined values, from the
   * body as well. For repetitions of one text alone: two texts can report one credit, so guard effects by `effectKey`.
   */
  readonly digest: string;
  /** Who signed it. With several partners, compare it with the owner of the order before you act on the event. */
  readonly key: MatchedKey;
}

/** An authentic delivery on its way to its handler. */
export interface Delivery extends DeliveryReference {
  /** The body as received, signature included. Verifying it again gives the same delivery. */
  readonly body: string;
  /** The trace context of its request, in the form of W3C Trace Context: keep it, so that its handling joins the trace. */
  readonly traceparent?: string | undefined;
}

/**
 * Decides whether a delivery is new, and when it is handled. The default keeps digests in memory and handles before it
 * acknowledges, since memory does not survive a crash.
 */
export interface Inbox {
  /**
   * Accepts an authentic delivery, also one that no handler is registered for: a durable inbox decides nothing here.
   * Resolves with `stored` once it is kept durably, `handled` or `ignored` after `handle` has resolved (`ignored` if
   * that did not resolve with `handled`; then its digest is not remembered), `duplicate` if it was stored or handled
   * before, and `busy` while another worker has it. Rejects if `handle` or the store fails, and the delivery may be sent
   * again. An `InboxError` about the store is answered with 503, anything else with 500.
   */
  receive(delivery: Delivery, handle: HandleDelivery): Promise<InboxResult>;
  /**
   * Called once by `createWebhooks`, before handlers are registered. An inbox that stores deliveries uses this host to
   * handle them, also those that a crash left behind.
   */
  attach?(host: InboxHost): void;
  /**
   * Keeps deliveries that nobody can verify yet, while a key ring waits for keys. Absent from an inbox that cannot: then
   * they are answered 503, and not kept.
   */
  readonly quarantine?: Quarantine | undefined;
}

/** How a handler runs. */
export interface HandleOptions {
  /** Aborted to stop the handlers: their context has it. */
  readonly signal?: AbortSignal | undefined;
  /** The number of the attempt, from 1, for traces. */
  readonly attempt?: number | undefined;
  /**
   * Marks the delivery handled in a transaction of the user's, for `handledIn` of the context. Absent from an inbox that
   * cannot.
   */
  readonly mark?: ((store: RecordStore) => Promise<void>) | undefined;
}

/**
 * How the handling of a delivery ended. `handled`: the handlers ran to their end. `ignored`: its name is muted, or no
 * process has a handler for it. `failed`: it will be tried again. `dead`: it will not, unless it is replayed. `put-back`:
 * it was not handled, and that is no attempt; another process may handle it, or this one later.
 * @useDeclaredType
 */
export type HandlingOutcome = 'handled' | 'ignored' | 'failed' | 'dead' | 'put-back';

/**
 * The result of handlers that did not fail. `ignored`: `onUnrecognized('ignore')` mutes its name. `put-back`: it is a
 * documented event, and nothing is registered for it in this process.
 * @useDeclaredType
 */
export type HandleResult = Exclude<HandlingOutcome, 'failed' | 'dead'>;

/** Runs the handlers. */
export type HandleDelivery = (options?: HandleOptions) => Promise<HandleResult>;

/** The webhooks, as an inbox uses them. */
export interface InboxHost {
  /** Whether any handler is registered. Until then a worker leases nothing. */
  readonly hasHandlers: boolean;
  /**
   * Verifies what the `quarantine` keeps, with the keys that the ring has now, and hands what they have signed to
   * `receive`. To be called now and then, by an inbox with a `quarantine`. Never rejects.
   */
  review?(): Promise<void>;
  /**
   * Parses and dispatches a delivery that was verified before it was stored. Its signature is not checked again, since
   * keys may have been rotated. Rejects if a handler fails, and with `event_unrecognized` for an event that cannot be
   * read and that `onUnrecognized` does not take: it is a dead letter at once.
   */
  handle(delivery: Delivery, options?: HandleOptions): Promise<HandleResult>;
  /** Calls `onDelivery`, and `onError` for a failure. Never throws. */
  report(delivery: DeliveryReference, outcome: AttemptResult): void;
}

/** The result of one attempt to handle a stored delivery. */
export interface AttemptResult {
  /** A delivery that was put back is not reported. */
  readonly outcome: Exclude<HandlingOutcome, 'put-back'>;
  /** From 1. */
  readonly attempt: number;
  /** How long the handlers ran; absent if their process died. */
  readonly durationMs?: number | undefined;
  /** Milliseconds from storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** Why it failed, for `onError`; absent if the caller of `receive` gets the error. */
  readonly error?: unknown;
}

export const inboxResults = [
  'handled',
  'ignored',
  'stored',
  'duplicate',
  'busy',
] as const satisfies readonly (HandlingOutcome | 'stored' | 'duplicate' | 'busy')[];
/**
 * The result of receiving a delivery.
 * @useDeclaredType
 */
export type InboxResult = (typeof inboxResults)[number];

/** An inbox with dead letters that can be stopped. */
export interface ManagedInbox extends Inbox {
  /**
   * Deliveries that are not tried again unless they are replayed, oldest first.
   * @throws {ConfigurationError} `invalid_option`
   */
  deadLetters(options?: DeadLetterOptions): Promise<DeadLetter[]>;
  /** The dead letter of this digest, with its body, which holds personal data; `undefined` if there is none. */
  deadLetter(digest: string): Promise<DeadLetter | undefined>;
  /**
   * Tries a dead letter again, with all its attempts. Resolves with false if no dead letter has this digest. A durable
   * inbox handles it soon afterwards. The memory inbox handles it before this resolves, and this rejects if that fails
   * (false also while a repetition is being handled).
   */
  replay(digest: string): Promise<boolean>;
  /** Drops a dead letter; its digest stays remembered. False if no dead letter has this digest. */
  discard(digest: string): Promise<boolean>;
  /**
   * How many deliveries the inbox holds now. Workers go on meanwhile: `storeInbox` may miss a delivery, or count it
   * twice, whose attempt begins or ends during the count.
   */
  counts(): Promise<InboxCounts>;
  /**
   * What the inbox holds, as plain JSON, for readiness and metrics. Rejects if its store does not answer.
   * @throws {InboxError}
   */
  health(): Promise<InboxHealth>;
  /**
   * Accepts nothing more (503), waits for running handlers, and releases the store. Handlers that still run after the
   * time are aborted; a durable inbox has their deliveries handled again. Afterwards every call to a durable inbox
   * rejects with `inbox_stopped`.
   * @param options.timeoutMs @default 10000
   */
  stop(options?: { readonly timeoutMs?: number | undefined }): Promise<'drained' | 'cut-off'>;
}

/** How many deliveries an inbox holds. */
export interface InboxCounts {
  /** Stored and not yet handled: waiting for an attempt, or being handled. */
  readonly open: number;
  /** Dead letters. */
  readonly dead: number;
  /**
   * Deliveries that nobody can verify yet; they are neither open nor dead, and may be forged. Absent if there are none,
   * and from an inbox that cannot keep any.
   */
  readonly quarantined?: number;
}

/** What an inbox knows of one delivery, without its body. */
export interface DeliveryStatus {
  /** Identifies the delivery. */
  readonly digest: string;
  /**
   * `waiting`: for its next attempt. `held`: a process handles it, or died while it did. `dead`: a dead letter. `handled`:
   * it was handled or discarded, and nothing but its digest is kept.
   */
  readonly state: 'waiting' | 'held' | 'dead' | 'handled';
  /** The `event_name`; absent once it is handled, as the members below. */
  readonly name?: string;
  /** When it was received. */
  readonly receivedAt?: Date;
  /** How often it was tried; an attempt that runs is one. */
  readonly attempts?: number;
  /** When it is due: a `waiting` one for its attempt, a `held` one for another process, which tries it alone. */
  readonly dueAt?: Date;
  /** The error of the last attempt that failed; empty if none did. */
  readonly reason?: string;
}

/** What an inbox holds, in numbers. Processes that share its store say the same: do not add them up. */
export interface InboxHealth {
  /** Stored and not yet handled: waiting for an attempt, or being handled. */
  readonly open: number;
  /** Dead letters, each for a person. */
  readonly dead: number;
  /** Kept deliveries that nobody can verify yet: new keys have not come, or somebody sends forgeries. */
  readonly quarantined: number;
  /**
   * Milliseconds since the oldest open delivery was received; `null` if none is open. Of more than 1,000 open ones, the
   * oldest of those that are due first. `memoryInbox` knows none, since nothing waits in it.
   */
  readonly oldestAgeMs: number | null;
}

/** `attach` was called twice. */
export function hasHost(): ConfigurationError {
  return invalidOption('An inbox belongs to one createWebhooks: make another one.');
}

/** Milliseconds that `stop` waits for running handlers. */
export const defaultStopMs = 10_000;
