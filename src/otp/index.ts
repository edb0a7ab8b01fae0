/**
 * One-time codes over the messenger: issue, send again, check.
 *
 * @module partner-exchange-sdk/otp
 */
export { isOtpError, OtpError, type OtpErrorCode, type OtpLimit } from '../errors/otp-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export { maskPhone } from '../phone/mask-phone.ts';
export { type NormalizePhoneOptions, normalizePhone } from '../phone/normalize-phone.ts';
export type { RecordStore } from '../store/record-store.ts';
export type { CheckedOtp } from './check-code.ts';
export { createOtp, type Otp } from './create-otp.ts';
export type { OtpMessenger } from './devices.ts';
export type { OtpLimits, RateLimit, UnconfirmedLimit } from './limit-options.ts';
export type { CheckOptions, IssueRequest, ResendOptions } from './otp-input.ts';
export type { OtpMessageContent, OtpOptions } from './otp-options.ts';
export type { OtpReport } from './otp-report.ts';
export type { IssuedOtp } from './send-code.ts';
