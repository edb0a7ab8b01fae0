/**
 * One-time codes over the messenger: issue, send again, check.
 *
 * @module partner-exchange-sdk/otp
 */
export {
  isOtpError,
  isPhoneError,
  isValidationError,
  OtpError,
  type OtpErrorCode,
  ValidationError,
} from '../errors/errors.ts';
export type { RandomBytes } from '../internal/options.ts';
export type { RecordStore } from '../store/record-store.ts';
export type { CheckedOtp } from './check-code.ts';
export { createOtp, type Otp } from './create-otp.ts';
export type { CheckOptions, IssueRequest } from './otp-input.ts';
export type { OtpLimit } from './otp-limit.ts';
export type { OtpMessenger } from './otp-messenger.ts';
export type { OtpLimits, OtpMessageContent, OtpOptions, RateLimit, UnconfirmedLimit } from './otp-options.ts';
export type { OtpReport } from './otp-report.ts';
export { type NormalizePhoneOptions, normalizePhone } from './phone.ts';
export type { IssuedOtp } from './send-code.ts';
