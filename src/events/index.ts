/**
 * Schemas and types of the order events.
 *
 * @module partner-exchange-sdk/events
 */
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export { decimalLiteral } from './decimal-literal.ts';
export type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyNoKycEvent,
  BuyOrderRecord,
  BuyThirdPartyErrorEvent,
  BuyThirdPartyPaymentEvent,
  FiatReceivedRecord,
  KycErrorRecord,
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
  buyNoKycEvent,
  buyThirdPartyErrorEvent,
  buyThirdPartyPaymentEvent,
  type OrderEvent,
  type OrderEventName,
  type OrderEventOf,
  orderEvent,
} from './order-event.ts';
export {
  type EventIssue,
  orderEventNames,
  type ParsedOrderEvent,
  parseOrderEvent,
} from './parse-order-event.ts';
export {
  isSettledStatus,
  isThirdPartyKycError,
  type SettledCryptoStatus,
  type ThirdPartyKycError,
} from './status.ts';
export type { OrderFactName, OrderFacts } from './timeline/order-facts.ts';
export { type OrderFlag, raisedFlags } from './timeline/order-flags.ts';
export {
  applyEvent,
  emptyTimeline,
  isFinalStage,
  type OrderStage,
  type OrderTimeline,
  orderStages,
} from './timeline/order-timeline.ts';
