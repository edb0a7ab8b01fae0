/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */

export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { SandboxDelivery } from './callbacks/delivery.ts';
export type { EventSpelling } from './callbacks/event-text.ts';
export type { CallbackRetry, CallbackRetryPolicy } from './callbacks/retry-policy.ts';
export type { SandboxClock } from './clock/sandbox-clock.ts';
export { createSandbox } from './create-sandbox.ts';
export type { SandboxFaults } from './faults/fault-plan.ts';
export {
  type FaultRate,
  type FaultRates,
  type FaultScenario,
  faultScenarios,
} from './faults/fault-scenarios.ts';
export {
  type EventFault,
  type EventFaultName,
  type EventFaultTarget,
  eventFaults,
  type Fault,
  type FaultDetails,
  type FaultTarget,
  type FaultTime,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultTarget,
  requestFaults,
  type SandboxOperation,
} from './faults/fault-table.ts';
export type { ListenOptions, SandboxServer } from './http/listen.ts';
export type { SandboxMessage } from './messenger/messenger-registry.ts';
export type { SandboxOrderState, SandboxOrderStep } from './orders/order-steps.ts';
export { type OrderScenario, orderScenarios } from './orders/play-order.ts';
export type { SandboxOrder } from './orders/sandbox-order.ts';
export type { SandboxPartner } from './partners/fixed-partners.ts';
export type { SandboxEmail } from './partners/partner-registry.ts';
export type { SandboxCredentials } from './partners/sandbox-credentials.ts';
export type { Sandbox, SandboxEvents, SandboxRequestInit } from './sandbox.ts';
export type { SandboxOptions } from './sandbox-options.ts';
export type { AllowedValues, ServiceVariants } from './service-variants.ts';
export type { TraceEntry, TraceKind } from './trace/trace-entry.ts';
export type { SandboxTrace } from './trace/trace-log.ts';
