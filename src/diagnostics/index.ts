/**
 * Find out, prove, pin and explain how a deployment signs; attack a receiver; check what an integration stands on. For
 * development and tests, never while handling a request.
 *
 * @module partner-exchange-sdk/diagnostics
 */
export type { KeyRing } from '../credentials/key-ring.ts';
export type { KeySets } from '../credentials/key-sets.ts';
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export type { SigningPurpose } from '../credentials/signing-key.ts';
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isKeyError, KeyError, type KeyErrorCode } from '../errors/key-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isSignatureError, SignatureError, type SignatureErrorCode } from '../errors/signature-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export type { Serialization } from '../signature/serializations.ts';
export type { Construction, Encoding, SignatureScheme } from '../signature/signature-scheme.ts';
export type { AttackOptions } from './attack/attack-options.ts';
export { attackReceiver } from './attack/attack-receiver.ts';
export type { AttackResult, AttackVerdict } from './attack/attack-result.ts';
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
export type { DoctorCheck, DoctorStatus } from './doctor/doctor-check.ts';
export type { DoctorOptions } from './doctor/doctor-options.ts';
export { runDoctor } from './doctor/run-doctor.ts';
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
