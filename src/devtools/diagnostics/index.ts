/**
 * Learn how a deployment signs and behaves; explain a signature that does not match; attack a receiver.
 * For development and tests, never while handling a request.
 *
 * @module partner-exchange-sdk/diagnostics
 */
export type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
export type { Deployment } from '../../deployment/define-deployment.ts';
export type { DeploymentFile, DuplicateIds, LearntDeployment } from '../../deployment/learnt-deployment.ts';
export type { AcceptingReply, OrderStatuses, ReplyRules } from '../../deployment/order-reply.ts';
export type { WireNames } from '../../deployment/wire-names.ts';
export { ConfigurationError, isConfigurationError, isKeyError, KeyError } from '../../errors/errors.ts';
export type { SignatureScheme } from '../../signature/signature-scheme.ts';
export type { AttackResult } from './attack/attack-case.ts';
export type { AttackOptions, AttackProgress } from './attack/attack-options.ts';
export { type AttackReport, attackReceiver } from './attack/attack-receiver.ts';
export type { AttackFinding } from './attack/findings.ts';
export type { AttackOrder } from './attack/probes.ts';
export type { UncheckedKeys } from './detection/scheme-space.ts';
export type { SignatureFinding } from './detection/signature-finding.ts';
export type { Finding, Verdict } from './finding.ts';
export type { SigningOracle } from './learn/ask-oracle.ts';
export type { CapturedReply } from './learn/captured-reply.ts';
export {
  type LearnOptions,
  type Learnt,
  type LearntRow,
  type LearntVerdict,
  learn,
} from './learn/learn-from-samples.ts';
export type { CapturedDelivery } from './learn/read-samples.ts';
export {
  type ExplainOptions,
  explainMismatch,
  type MismatchExplanation,
} from './mismatch/explain-mismatch.ts';
