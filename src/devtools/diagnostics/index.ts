/**
 * Find, prove, pin and explain how a deployment signs; learn what its events say of the ledger; attack a receiver; check the surroundings of an integration.
 * For development and tests, never while handling a request.
 *
 * @module partner-exchange-sdk/diagnostics
 */
export type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
export type { Deployment } from '../../deployment/define-deployment.ts';
export type { DeploymentFile, DuplicateIds, LearntDeployment } from '../../deployment/learnt-deployment.ts';
export type { AcceptingReply, OrderReplyRules, OrderStatuses } from '../../deployment/order-reply.ts';
export type { WireNames } from '../../deployment/wire-names.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isKeyError,
  isSignatureError,
  isValidationError,
  KeyError,
  SignatureError,
  ValidationError,
} from '../../errors/errors.ts';
export type { RandomBytes } from '../../internal/options.ts';
export type { SignatureScheme } from '../../signature/signature-scheme.ts';
export type { AttackResult } from './attack/attack-case.ts';
export type { AttackOptions, AttackProgress } from './attack/attack-options.ts';
export { type AttackLimits, type AttackReport, attackReceiver } from './attack/attack-receiver.ts';
export type { AttackFinding } from './attack/findings.ts';
export type { AttackVerdict } from './check-result.ts';
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
export type { CapturedReply } from './learn/captured-reply.ts';
export {
  type LearnOptions,
  type Learnt,
  type LearntRow,
  type LearntVerdict,
  learn,
} from './learn/learn-from-samples.ts';
export type { CapturedDelivery } from './learn/read-samples.ts';
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
