import type { BulkError } from './bulk-error.ts';
import type { ConfigurationError } from './configuration-error.ts';
import type { InboxError } from './inbox-error.ts';
import type { KeyError } from './key-error.ts';
import type { OrderError } from './order-error.ts';
import type { OtpError } from './otp-error.ts';
import { kindOf } from './partner-exchange-error.ts';
import type { RequestError } from './request-error.ts';
import type { SignatureError } from './signature-error.ts';
import type { StoreError } from './store-error.ts';
import type { ValidationError } from './validation-error.ts';

/**
 * Every error of this package. No two classes share a `code`, so a `switch` over it narrows to the class; only
 * `store_unavailable` is both of inboxes and of one-time codes.
 *
 * @example
 * ```ts
 * try {
 *   await exchange.createOrder(order);
 * } catch (error) {
 *   if (!isPartnerExchangeError(error)) throw error;
 *   switch (error.code) {
 *     case 'invalid_input':
 *       return reject(error.issues);
 *     case 'http_error':
 *       return error.outcome === 'refused' ? refuse(error.status) : lookUp(order);
 *     default:
 *       throw error;
 *   }
 * }
 * ```
 */
export type SdkError =
  | BulkError
  | ConfigurationError
  | InboxError
  | KeyError
  | OrderError
  | OtpError
  | RequestError
  | SignatureError
  | StoreError
  | ValidationError;

/** True for any error of this package, also of another installed copy. */
export function isPartnerExchangeError(error: unknown): error is SdkError {
  return kindOf(error) !== undefined;
}
