import type { SignatureErrorCode } from '../errors/signature-error.ts';
import type { RequestRefusalCode } from './outcome.ts';

/**
 * The outcome of one delivery, for metrics and logs. Holds nothing of the body but the name of its event, and no key.
 *
 * Every request is reported once, also one that is refused before its body is read. A delivery in a durable inbox is
 * reported when it is received (`stored`), and at each attempt to handle it. `memoryInbox` handles while it receives:
 * it reports `handle` only to say that a delivery is `dead`, beside the `failed` of its last request.
 */
export interface DeliveryReport {
  /** `receive`: the request, up to its answer. `handle`: an attempt to handle what was stored. */
  readonly stage: 'receive' | 'handle';
  /** As {@link Outcome}, and `dead`: the last attempt failed, see the dead letters of the inbox. */
  readonly outcome:
    | 'handled'
    | 'ignored'
    | 'stored'
    | 'duplicate'
    | 'busy'
    | 'failed'
    | 'unavailable'
    | 'refused'
    | 'dead';
  /** `receive`: the HTTP status of the answer. */
  readonly status?: number | undefined;
  /**
   * The `event_name`; only of an authentic delivery. Whoever has a key may name anything: for a label of a metric
   * replace what is not in `orderEventNames`.
   */
  readonly name?: string | undefined;
  /** The digest it is known by; only of an authentic delivery. */
  readonly digest?: string | undefined;
  /** Why it was refused. */
  readonly code?: SignatureErrorCode | RequestRefusalCode | undefined;
  /**
   * Milliseconds. `receive`: from the whole body to the outcome, and of a request that was refused before that, from
   * its head. `handle`: how long the handlers ran; absent when their process died.
   */
  readonly durationMs?: number | undefined;
  /** `handle`: milliseconds from its storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** `handle`: from 1. */
  readonly attempt?: number | undefined;
}
