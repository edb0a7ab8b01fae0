/**
 * Test tools: event bodies, signed and forged deliveries, request handlers for msw, and a test suite for your own
 * record store.
 *
 * @module partner-exchange-sdk/testing
 */
export type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isValidationError,
  ValidationError,
} from '../../errors/errors.ts';
export type { OrderEvent, OrderEventName, OrderEventOf } from '../../events/order-event.ts';
export type { EventSpelling } from '../sandbox/settings/sandbox-options.ts';
export { deliver } from './deliver.ts';
export { describeRecordStore, type MakeRecordStore, type TestRunner } from './describe-record-store.ts';
export { type EventOverrides, eventBody, type OverridesOf, type ValueOverrides } from './event-body.ts';
export { type MswHandlersOptions, type MswHttp, type MswResolver, mswHandlers } from './msw-handlers.ts';
export {
  type DeliveryOptions,
  type RefusedDeliveries,
  refusedDeliveries,
  type SignedDelivery,
  signedDelivery,
} from './signed-delivery.ts';
