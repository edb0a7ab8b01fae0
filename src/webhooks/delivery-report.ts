import type { SignatureErrorCode } from '../errors/signature-error.ts';
import type { RequestRefusalCode } from './outcome.ts';

/**
 * The fate of one delivery, for metrics and logs. Holds nothing of the body but the name of its event, and no key.
 *
 * A delivery in a durable inbox is reported when it is received (`stored`), and at each attempt to handle it.
 */
export interface DeliveryReport {
  /** `receive`: the request, up to its answer. `handle`: an attempt to handle what was stored. */
  readonly stage: 'receive' | 'handle';
  /**
   * As {@link Outcome}, and `dead`: handling was given up, see the dead letters of the inbox.
   */
  readonly fate:
    | 'handled'
    | 'ignored'
    | 'stored'
    | 'duplicate'
    | 'busy'
    | 'failed'
    | 'unavailable'
    | 'refused'
    | 'dead';
  /** The `event_name`; only of an authentic delivery. */
  readonly name?: string | undefined;
  /** The digest it is known by; only of an authentic delivery. */
  readonly digest?: string | undefined;
  /** Why it was refused. */
  readonly code?: SignatureErrorCode | RequestRefusalCode | undefined;
  /** Of the stage, in milliseconds. */
  readonly durationMs: number;
  /** `handle`: milliseconds from its storing to this attempt. */
  readonly waitedMs?: number | undefined;
  /** `handle`: from 1. */
  readonly attempt?: number | undefined;
}
