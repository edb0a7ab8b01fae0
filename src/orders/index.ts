/**
 * The order journal: no order twice, none forgotten.
 *
 * @module partner-exchange-sdk/orders
 */
export type { PartnerNames } from '../credentials/same-partner.ts';
export {
  isOrderError,
  isPartnerExchangeError,
  isRequestError,
  isStoreError,
  OrderError,
  type OrderErrorCode,
  type OrderState,
  type SdkError,
  StoreError,
  type StoreErrorCode,
} from '../errors/errors.ts';
export type {
  CreatedOrder,
  CreateOrderOptions,
  JournaledOrder,
  Observation,
  ObservedEvent,
  OrderJournal,
  PrepareOrderOptions,
  UnsettledOptions,
} from './journal.ts';
export type { OrderJournalOptions, OrderSender } from './journal-options.ts';
export { createOrderJournal } from './order-journal.ts';
