/**
 * Find out, prove, pin and explain how a deployment signs; attack a receiver; check what an integration stands on. For
 * development and tests, never while handling a request.
 *
 * @module partner-exchange-sdk/diagnostics
 */
export type { KeyRing, KeySets } from '../credentials/key-ring.ts';
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export type { SigningPurpose } from '../credentials/signing-key.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isKeyError,
  isPartnerExchangeError,
  isSignatureError,
  isValidationError,
  KeyError,
  type KeyErrorCode,
  type SdkError,
  SignatureError,
  type SignatureErrorCode,
  ValidationError,
  type ValidationIssue,
} from '../errors/errors.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export type { Serialization } from '../signature/serializations.ts';
export type { Construction, Encoding, SignatureScheme } from '../signature/signature-scheme.ts';
export type { AttackResult, AttackVerdict } from './attack/attack-case.ts';
export type { AttackOptions } from './attack/attack-receiver.ts';
export { attackReceiver } from './attack/attack-receiver.ts';
export {
  detectFromOracle,
  type OracleDetection,
  type OracleOptions,
  type OracleReply,
  probeBody,
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
export type { DoctorCheck, DoctorOptions, DoctorStatus } from './doctor/doctor-context.ts';
export { runDoctor } from './doctor/run-doctor.ts';
export { explainMismatch } from './mismatch/explain-mismatch.ts';
export type { Deviation, DeviationCode } from './mismatch/find-deviations.ts';
export type {
  ExplainOptions,
  MismatchExplanation,
  MismatchFinding,
  MismatchFindingCode,
} from './mismatch/mismatch-explanation.ts';
export type { PinFixture, PinKeys, SchemePin } from './pin/pin-scheme.ts';
export {
  type CheckedPin,
  type CheckPinOptions,
  checkPin,
  type PinOptions,
  pinScheme,
} from './pin/pin-scheme.ts';
