/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */

export type { AddressForm, AddressForms } from '../../deployment/addresses/address-forms.ts';
export type { AssumptionId } from '../../deployment/assumptions.ts';
export type { CompleteDeployment, NumberCheckParameters } from '../../deployment/define-deployment.ts';
export type { BaseUrlName } from '../../deployment/operations.ts';
export type { KnownOrder, SameOrder } from '../../deployment/same-order.ts';
export type { BrandedName } from '../../deployment/wire-names.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isValidationError,
  ValidationError,
} from '../../errors/errors.ts';
export type { OrderEventName } from '../../events/order-event.ts';
export type { JsonObject, JsonValue } from '../../internal/json.ts';
export type { SandboxClock } from './clock.ts';
export { createSandbox } from './create-sandbox.ts';
export type { CallbackRetryPolicy, SandboxDelivery } from './events/delivery.ts';
export type { EventSpelling } from './events/event-text.ts';
export { type EventFaultName, eventFaults, type FaultDetails } from './faults/event-faults.ts';
export type { SandboxFaults } from './faults/fault-plan.ts';
export {
  type EventFault,
  type EventFaultRates,
  type Fault,
  type FaultRates,
  type FaultScenario,
  type FaultTarget,
  faultScenarios,
  type RequestFault,
  type RequestFaultRates,
  requestFaults,
  type SandboxOperation,
} from './faults/faults.ts';
export type { SandboxMessage } from './messenger/messenger-registry.ts';
export type { SandboxOrder, SandboxOrderStep } from './orders/order-registry.ts';
export { type OrderScenario, orderScenarios } from './orders/order-scenarios.ts';
export type { SandboxCredentials, SandboxPartner } from './partners/fixed-partners.ts';
export type { SandboxEmail } from './partners/partner-registry.ts';
export type { DenialForm, ReplyForm, SandboxReply } from './reply-forms.ts';
export type { Sandbox, SandboxEvents } from './sandbox.ts';
export type { AllowedValues, KeyPrefixes, SandboxOptions } from './sandbox-options.ts';
export type { ListenOptions, SandboxServer } from './server/sandbox-server.ts';
export type { SandboxTrace, TraceEntry, TraceKind } from './trace.ts';
