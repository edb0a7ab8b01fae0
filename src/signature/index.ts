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
} from '../deployment/signature-scheme.ts';
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
} from './laboratory/detect-from-oracle.ts';
export { type DetectOptions, detectScheme } from './laboratory/detect-scheme.ts';
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
} from './laboratory/detection.ts';
export { explainMismatch } from './laboratory/explain-mismatch.ts';
export type { Deviation, DeviationCode } from './laboratory/find-deviations.ts';
export type {
  ExplainOptions,
  MismatchExplanation,
  MismatchFinding,
  MismatchFindingCode,
} from './laboratory/mismatch-explanation.ts';
export type { PinKeys } from './laboratory/pin-keys.ts';
export {
  type CheckedPin,
  type CheckPinOptions,
  checkPin,
  type PinOptions,
  pinScheme,
} from './laboratory/pin-scheme.ts';
export { probeBody } from './laboratory/probe-body.ts';
export type { PinFixture, SchemePin } from './laboratory/scheme-pin.ts';
export { type SignedBody, type SignOptions, signBody } from './sign-body.ts';
export { type VerifiedBody, type VerifyOptions, verifyBody } from './verify-body.ts';
