/**
 * The order journal: no order twice, none forgotten.
 *
 * @module partner-exchange-sdk/orders
 */
export {
  isOrderError,
  OrderError,
  type OrderErrorCode,
  type OrderState,
} from '../errors/order-error.ts';
export { isRequestError } from '../errors/request-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isStoreError, StoreError, type StoreErrorCode } from '../errors/store-error.ts';
export type {
  CreatedOrder,
  CreateOrderOptions,
  Observation,
  OrderJournal,
  PrepareOrderOptions,
  UnsettledOptions,
} from './journal.ts';
export type { OrderJournalOptions, OrderSender } from './journal-options.ts';
export type { JournaledOrder } from './journaled-order.ts';
export type { ObservedEvent } from './observed-event.ts';
export { createOrderJournal } from './order-journal.ts';
