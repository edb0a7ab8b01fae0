import { isPartnerExchangeError, type SdkError } from './errors.ts';

/** Why a delivery failed: the code of an error of this package, or `handler_failed`. */
export type FailureCode = SdkError['code'] | 'handler_failed';

/** A handler may throw anything, so only codes of our own are shown. */
export function failureCode(error: unknown): FailureCode {
  return isPartnerExchangeError(error) ? error.code : 'handler_failed';
}
