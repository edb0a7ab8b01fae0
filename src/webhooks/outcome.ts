import type { KeyError, KeyErrorCode } from '../errors/key-error.ts';
import type { SignatureError, SignatureErrorCode } from '../errors/signature-error.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';

/** Why a request was refused before its signature was checked. */
export type RequestRefusalCode =
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'body_timeout'
  | 'body_unreadable'
  | 'raw_body_required';

/**
 * The outcome of one delivery, with the HTTP status to answer.
 *
 * - `handled`: a handler ran to its end.
 * - `ignored`: authentic, but no handler is registered for it.
 * - `stored`: a durable inbox has it and will handle it.
 * - `duplicate`: handled (or stored) before.
 * - `busy`: another delivery of the same event is being handled right now.
 * - `failed`: a handler, or the inbox, failed; a repetition will be tried again.
 * - `unavailable`: the store of the inbox is down or full. Nothing was kept, and the sender is told to send it again.
 * - `unverified`: the key ring has no keys to verify with (`keys_unavailable`), or the key would have to be searched for
 *   and `keySearch` allows no more (`key_search_limited`). Nothing is known of the body, nothing was kept, and the sender
 *   is told to send it again.
 * - `refused`: not authentic, or not a delivery at all.
 */
export type Outcome =
  | ({
      readonly kind: 'handled' | 'ignored' | 'stored' | 'duplicate';
      readonly status: 200;
    } & DeliveryReference)
  | ({ readonly kind: 'busy'; readonly status: 503; readonly retryAfterMs: number } & DeliveryReference)
  | ({
      readonly kind: 'unavailable';
      readonly status: 503;
      readonly retryAfterMs: number;
      readonly error: unknown;
    } & DeliveryReference)
  | {
      readonly kind: 'unverified';
      readonly status: 503;
      readonly retryAfterMs: number;
      readonly code: KeyErrorCode;
      readonly error: KeyError;
    }
  | ({ readonly kind: 'failed'; readonly status: 500; readonly error: unknown } & DeliveryReference)
  | {
      readonly kind: 'refused';
      readonly status: 400 | 401 | 413;
      readonly code: SignatureErrorCode | 'body_too_large';
      readonly error?: SignatureError;
    };

/** The status for a body whose signature could not be verified. */
export function statusOfRefusal(code: SignatureErrorCode): 400 | 401 {
  return code.startsWith('body_') ? 400 : 401;
}
