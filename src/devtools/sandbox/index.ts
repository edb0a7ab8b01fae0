/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */

export type {
  CompleteDeployment,
  DeploymentOptions,
} from '../../deployment/define-deployment.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isValidationError,
  ValidationError,
} from '../../errors/errors.ts';
export type { OrderEventName } from '../../events/order-event.ts';
export type { JsonObject, JsonValue } from '../../internal/json.ts';
export { createSandbox } from './create-sandbox.ts';
export type { ListenOptions, Sandbox, SandboxServer } from './sandbox.ts';
export { type OrderScenario, orderScenarios } from './service/order-scenarios.ts';
export { type EventFaultName, eventFaults, type FaultDetails } from './settings/event-faults.ts';
export {
  type EventFault,
  type PlannedFault,
  type RequestFault,
  requestFaults,
  type SandboxOperation,
} from './settings/faults.ts';
export type { SandboxCredentials, SandboxPartner } from './settings/fixed-partners.ts';
export type { DenialForm, ReplyForm, SandboxReply } from './settings/reply-forms.ts';
export type {
  CallbackRetry,
  EventSpelling,
  SandboxOptions,
} from './settings/sandbox-options.ts';
export type { SandboxClock } from './world/clock.ts';
export type { SandboxDelivery } from './world/delivery.ts';
export type { SandboxFaults } from './world/fault-plan.ts';
export type { SandboxMessage } from './world/messenger-registry.ts';
export type { SandboxOrder, SandboxOrderStep } from './world/order-registry.ts';
export type { SandboxEmail } from './world/partner-registry.ts';
export type { SandboxTrace, TraceEntry, TraceKind } from './world/trace.ts';
