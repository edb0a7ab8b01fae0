/**
 * Sign bodies and verify signed ones; find out, pin and explain how a deployment signs. Needs nothing but
 * `node:crypto`.
 *
 * @module partner-exchange-sdk/signature
 */
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export { type SigningPurpose, signingKey } from '../credentials/signing-key.ts';
export {
  type Construction,
  defaultScheme,
  type Encoding,
  type Serialization,
  type SignatureScheme,
} from './signature-scheme.ts';
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isPartnerExchangeError, PartnerExchangeError } from '../errors/partner-exchange-error.ts';
export { isSignatureError, SignatureError, type SignatureErrorCode } from '../errors/signature-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export {
  detectFromOracle,
  type OracleDetection,
  type OracleOptions,
  type OracleReply,
  type SigningOracle,
} from '../diagnostics/detection/detect-from-oracle.ts';
export { type DetectOptions, detectScheme } from '../diagnostics/detection/detect-scheme.ts';
export type {
  DetectionSecrets,
  DetectionVerdict,
  NearMiss,
  NearMissCode,
  SafetyNote,
  SafetyNoteCode,
  SampleReport,
  SampleStatus,
  SchemeDetection,
  Survivor,
} from '../diagnostics/detection/detection.ts';
export { explainMismatch } from '../diagnostics/mismatch/explain-mismatch.ts';
export type { Deviation, DeviationCode } from '../diagnostics/mismatch/find-deviations.ts';
export type {
  ExplainOptions,
  MismatchExplanation,
  MismatchFinding,
  MismatchFindingCode,
} from '../diagnostics/mismatch/mismatch-explanation.ts';
export type { PinKeys } from '../diagnostics/pin/pin-keys.ts';
export {
  type CheckedPin,
  type CheckPinOptions,
  checkPin,
  type PinOptions,
  pinScheme,
} from '../diagnostics/pin/pin-scheme.ts';
export { probeBody } from '../diagnostics/detection/probe-body.ts';
export type { PinFixture, SchemePin } from '../diagnostics/pin/scheme-pin.ts';
export { type SignedBody, type SignOptions, signBody } from './sign-body.ts';
export { type VerifiedBody, type VerifyOptions, verifyBody } from './verify-body.ts';
