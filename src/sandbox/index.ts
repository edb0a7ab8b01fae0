/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */

export {
  ConfigurationError,
  isConfigurationError,
  isPartnerExchangeError,
  isValidationError,
  type SdkError,
  ValidationError,
  type ValidationIssue,
} from '../errors/errors.ts';
export type { SandboxClock } from './clock.ts';
export { createSandbox } from './create-sandbox.ts';
export type { CallbackRetry, CallbackRetryPolicy, SandboxDelivery } from './events/delivery.ts';
export type { EventSpelling } from './events/event-text.ts';
export type { SandboxFaults } from './faults/fault-plan.ts';
export {
  type EventFault,
  type EventFaultName,
  type EventFaultTarget,
  eventFaults,
  type Fault,
  type FaultDetails,
  type FaultRate,
  type FaultRates,
  type FaultScenario,
  type FaultTarget,
  type FaultTime,
  faultScenarios,
  type RequestFault,
  type RequestFaultName,
  type RequestFaultTarget,
  requestFaults,
  type SandboxOperation,
} from './faults/faults.ts';
export type { SandboxMessage } from './messenger/messenger-registry.ts';
export type { AllowedValues, SandboxOptions } from './options.ts';
export type { SandboxOrder, SandboxOrderState, SandboxOrderStep } from './orders/order-registry.ts';
export { type OrderScenario, orderScenarios } from './orders/order-scenarios.ts';
export type { SandboxCredentials, SandboxPartner } from './partners/fixed-partners.ts';
export type { SandboxEmail } from './partners/partner-registry.ts';
export type { Sandbox, SandboxEvents, SandboxRequestInit } from './sandbox.ts';
export type { ListenOptions, SandboxServer } from './server/listen.ts';
export type { SandboxTrace, TraceEntry, TraceKind } from './trace.ts';
