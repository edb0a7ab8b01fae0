import type { MatchedKey } from '../credentials/verification-keys.ts';
import type { FailureCode, RequestRefusalCode, SignatureError } from '../errors/errors.ts';
import type { EventReading } from '../events/event-readings.ts';
import type { AttemptResult, InboxResult } from '../inbox/inbox.ts';

/**
 * The outcome of one delivery, with the HTTP status to answer.
 *
 * - `handled`: a handler ran to its end.
 * - `ignored`: authentic, and nothing is registered for it, or its name is muted; without a durable inbox.
 * - `stored`: a durable inbox has it and will handle it.
 * - `duplicate`: handled (or stored) before.
 * - `busy`: another delivery of the same event is being handled right now.
 * - `unavailable`: the store of the inbox is down or full. Nothing was kept, and the sender is told to send it again.
 * - `failed`: a handler, or the inbox, failed; a repetition will be tried again.
 * - `unrecognized`: authentic, but nobody here can read it. Without a durable inbox nothing keeps it, so it is not
 *   acknowledged. See `error`.
 * - `unverified`: the key ring has no keys to verify with, or the `credentials` function failed (`keys_unavailable`); or
 *   no key of the ring matches, and there may be others (`keys_cooling_down`, `keys_not_loaded`, `keys_not_received`,
 *   `keys_unconfirmed`). The sender is told to send it again. An inbox with a quarantine keeps it, unless it is full.
 * - `refused`: not authentic, or not a delivery at all.
 */
export interface ReceiveOutcome extends DeliveryFacts {
  /** See above. */
  readonly kind: InboxResult | 'unavailable' | 'failed' | 'unrecognized' | 'unverified' | 'refused';
  /** The HTTP status to answer. */
  readonly status: 200 | 400 | 401 | 413 | 500 | 503;
  /** Who signed it, of authentic deliveries only. */
  readonly key?: MatchedKey | undefined;
  /** The error that `code` names; what a handler threw may be anything. */
  readonly error?: unknown;
  /** 503: milliseconds until the sender should try again. */
  readonly retryAfterMs?: number | undefined;
  /** `unverified`: whether the inbox keeps the body until there are other keys. */
  readonly quarantined?: boolean | undefined;
}

/** What an outcome and a report say of one delivery. @inline */
interface DeliveryFacts {
  /**
   * The `event_name`, of authentic deliveries only. Somebody who has a key can use any name: as a metric label, replace
   * names that are not in `orderEventNames`.
   */
  readonly name?: string | undefined;
  /** The delivery's digest, of authentic deliveries only. */
  readonly digest?: string | undefined;
  /** The members that were sent in another form (ledger: `event-readings`); absent if there are none. */
  readonly readings?: readonly EventReading[] | undefined;
  /**
   * Why it was refused or failed: the code of an error of this package, `handler_failed` for any other error that a
   * handler throws. Absent where nothing failed, and from a `dead` of `memoryInbox`, whose `failed` has it.
   */
  readonly code?: FailureCode | RequestRefusalCode | undefined;
}

/**
 * The outcome of one delivery, for metrics and logs. It holds the name of the event and how statuses were spelled that
 * had to be read, nothing else of the body, and no key.
 *
 * Every request is reported once, even if it is refused before its body is read. A delivery in a durable inbox is
 * reported when it is received (`stored`) and at each attempt to handle it. `memoryInbox` handles while it receives: it
 * reports `handle` only for a delivery that is `dead`, besides the `failed` of its last request.
 */
export interface DeliveryReport extends DeliveryFacts {
  /**
   * `receive`: the request, up to its answer. `handle`: an attempt to handle a stored delivery. `quarantine`: a delivery
   * that was kept until it could be verified was handed to the inbox, or refused.
   */
  readonly stage: 'receive' | 'handle' | 'quarantine';
  /**
   * The outcomes of {@link ReceiveOutcome}, and `dead`: the last attempt failed, and the delivery is a dead letter. A stored
   * delivery that is `unrecognized` is a dead letter too.
   */
  readonly outcome: ReceiveOutcome['kind'] | AttemptResult['outcome'];
  /** `receive`: the HTTP status of the answer. */
  readonly status?: number | undefined;
  /**
   * Milliseconds. `receive`: from the whole body to the outcome; absent if the request was refused before that. `handle`:
   * how long the handlers ran; absent if their process died.
   */
  readonly durationMs?: number | undefined;
  /** `handle`: milliseconds from storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** `handle`: the number of the attempt, from 1. */
  readonly attempt?: number | undefined;
}

/** A body that could not be verified, for `onRefused`. With a key ring it may be authentic, and answered 503. */
export interface RefusedBody {
  /** The body as received, for `explainMismatch` and `learn`: anybody may have sent it, with personal data in it. */
  readonly rawBody: string | Uint8Array;
  /** Why it was refused; see its `code`. */
  readonly error: SignatureError;
}
