import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `keys_unavailable`: a key ring has no keys: none were loaded yet, or the storage of a rotation holds none.
 * - `keys_not_loaded`: loading the keys of a key ring failed. The ring goes on with those it has.
 * - `key_search_limited`: more deliveries than `keySearch` of the webhooks allows have to be tried with all keys.
 * - `keys_known`: the keys that were received are not new: the rotation has had them before.
 * - `keys_not_received`: keys were asked for, but not received yet.
 * - `rotation_pending`: a rotation is under way.
 * - `rotation_unknown`: whether keys were asked for is not known: the process ended in between, or no reply came.
 * - `key_storage_exposed`: other users can read the file with the keys.
 * - `key_storage_invalid`: what is stored is not the state of a rotation. It is left as it is.
 * - `key_storage_locked`: another process holds the file for too long.
 * - `key_storage_failed`: reading or writing failed.
 */
export type KeyErrorCode =
  | 'keys_unavailable'
  | 'keys_not_loaded'
  | 'key_search_limited'
  | 'keys_known'
  | 'keys_not_received'
  | 'rotation_pending'
  | 'rotation_unknown'
  | 'key_storage_exposed'
  | 'key_storage_invalid'
  | 'key_storage_locked'
  | 'key_storage_failed';

export interface KeyErrorDetails {
  /** Safe to show: whoever makes the error redacts it. */
  readonly cause?: unknown;
  readonly retryAfterMs?: number | undefined;
}

/** Keys could not be loaded, stored or rotated. Never holds a key. */
export class KeyError extends PartnerExchangeError {
  readonly code: KeyErrorCode;
  /** Milliseconds until it may be tried again; only with `keys_unavailable` and `key_search_limited`. */
  readonly retryAfterMs: number | undefined;

  constructor(code: KeyErrorCode, message: string, { cause, retryAfterMs }: KeyErrorDetails = {}) {
    super('KeyError', message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** True for a {@link KeyError}, also of another copy of the package. */
export function isKeyError(error: unknown): error is KeyError {
  return kindOf(error) === 'KeyError';
}
