/**
 * Find out, prove, pin and explain how a deployment signs. For development and tests, never while handling a request.
 *
 * @module partner-exchange-sdk/diagnostics
 */
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export type { SigningPurpose } from '../credentials/signing-key.ts';
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isSignatureError, SignatureError, type SignatureErrorCode } from '../errors/signature-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export type { Serialization } from '../signature/serializations.ts';
export type { Construction, Encoding, SignatureScheme } from '../signature/signature-scheme.ts';
export {
  detectFromOracle,
  type OracleDetection,
  type OracleOptions,
  type OracleReply,
  type SigningOracle,
} from './detection/detect-from-oracle.ts';
export { type DetectOptions, detectScheme } from './detection/detect-scheme.ts';
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
} from './detection/detection.ts';
export { probeBody } from './detection/probe-body.ts';
export { explainMismatch } from './mismatch/explain-mismatch.ts';
export type { Deviation, DeviationCode } from './mismatch/find-deviations.ts';
export type {
  ExplainOptions,
  MismatchExplanation,
  MismatchFinding,
  MismatchFindingCode,
} from './mismatch/mismatch-explanation.ts';
export type { PinKeys } from './pin/pin-keys.ts';
export {
  type CheckedPin,
  type CheckPinOptions,
  checkPin,
  type PinOptions,
  pinScheme,
} from './pin/pin-scheme.ts';
export type { PinFixture, SchemePin } from './pin/scheme-pin.ts';
