/**
 * For your own tests: event bodies, signed and forged deliveries, request handlers for msw, and the tests that a record
 * store of your own has to pass.
 *
 * @module partner-exchange-sdk/testing
 */
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isPartnerExchangeError,
  isValidationError,
  type SdkError,
  ValidationError,
  type ValidationIssue,
} from '../errors/errors.ts';
export type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
export { type DeliverOptions, type DeliveryTarget, deliver } from './deliver.ts';
export {
  describeRecordStore,
  type MakeRecordStore,
  type TestRunner,
} from './describe-record-store.ts';
export { type EventOverrides, eventBody } from './event-body.ts';
export { type MswHandlersOptions, type MswHttp, type MswResolver, mswHandlers } from './msw-handlers.ts';
export {
  type Delivery,
  type DeliveryOptions,
  type RefusedDeliveries,
  refusedDeliveries,
  signedDelivery,
} from './signed-delivery.ts';
