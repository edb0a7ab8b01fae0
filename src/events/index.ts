/**
 * Schemas and types of the order events.
 *
 * @module partner-exchange-sdk/events
 */

export type { EventSigner, KeyOrigin, OrderOwner, PartnerNames } from '../credentials/partner-credentials.ts';
export type { EventStatuses } from '../deployment/event-statuses.ts';
export type { ValidationIssue } from '../errors/errors.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export { decimalLiteral } from '../internal/json-scanner.ts';
export { effectKey } from './effect-key.ts';
export { orderEventNames } from './event-names.ts';
export type { EventReading } from './event-readings.ts';
export type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyOrderRecord,
  BuyThirdPartyErrorEvent,
  PayerAccount,
  RefundDetails,
  TransactionalKyc,
} from './event-types.ts';
export {
  buyCloseEvent,
  buyCreditedEvent,
  buyFiatReceivedEvent,
  buyInitEvent,
  buyKycErrorEvent,
  buyThirdPartyErrorEvent,
  type OrderEvent,
  type OrderEventName,
  type OrderEventOf,
  orderEvent,
} from './order-event.ts';
export type { OrderFacts } from './order-facts.ts';
export {
  applyEvent,
  type EventParties,
  emptyTimeline,
  type OrderFlag,
  type OrderStage,
  type OrderTimeline,
  raisedFlags,
} from './order-timeline.ts';
export {
  type ParsedOrderEvent,
  type ParseOptions,
  parseOrderEvent,
} from './parse-order-event.ts';
export { isSettledStatus, isThirdPartyKycError } from './status.ts';
