import type { KeyErrorCode } from '../errors/key-error.ts';
import type { SignatureErrorCode } from '../errors/signature-error.ts';
import type { RequestRefusalCode } from './outcome.ts';

/**
 * The outcome of one delivery, for metrics and logs. It holds the name of the event, nothing else of the body, and no
 * key.
 *
 * Every request is reported once, even if it is refused before its body is read. A delivery in a durable inbox is
 * reported when it is received (`stored`) and at each attempt to handle it. `memoryInbox` handles while it receives: it
 * reports `handle` only for a delivery that is `dead`, besides the `failed` of its last request.
 */
export interface DeliveryReport {
  /** `receive`: the request, up to its answer. `handle`: an attempt to handle a stored delivery. */
  readonly stage: 'receive' | 'handle';
  /** The outcomes of {@link Outcome}, and `dead`: the last attempt failed, and the delivery is a dead letter. */
  readonly outcome:
    | 'handled'
    | 'ignored'
    | 'stored'
    | 'duplicate'
    | 'busy'
    | 'failed'
    | 'unavailable'
    | 'unverified'
    | 'refused'
    | 'dead';
  /** `receive`: the HTTP status of the answer. */
  readonly status?: number | undefined;
  /**
   * The `event_name`, of authentic deliveries only. Somebody who has a key can use any name: as a metric label, replace
   * names that are not in `orderEventNames`.
   */
  readonly name?: string | undefined;
  /** The delivery's digest, of authentic deliveries only. */
  readonly digest?: string | undefined;
  /** Why it was refused, or is `unverified`. */
  readonly code?: SignatureErrorCode | RequestRefusalCode | KeyErrorCode | undefined;
  /**
   * Milliseconds. `receive`: from the whole body to the outcome, or from the head of a request that was refused before
   * that. `handle`: how long the handlers ran; absent if their process died.
   */
  readonly durationMs?: number | undefined;
  /** `handle`: milliseconds from storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** `handle`: the number of the attempt, from 1. */
  readonly attempt?: number | undefined;
}
