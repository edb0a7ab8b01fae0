/**
 * The order journal: no order twice, none forgotten.
 *
 * @module partner-exchange-sdk/orders
 */

export type { EventSigner, KeyOrigin, PartnerNames } from '../credentials/same-partner.ts';
export {
  isOrderError,
  isRequestError,
  isStoreError,
  isValidationError,
  OrderError,
  type OrderErrorCode,
  type OrderState,
  ValidationError,
  type ValidationErrorCode,
} from '../errors/errors.ts';
export type {
  CreatedOrder,
  CreateOrderOptions,
  JournalHealth,
  Observation,
  ObservedEvent,
  OrderJournal,
  PrepareOrderOptions,
  SubmittedOrder,
  UnsettledOptions,
} from './journal.ts';
export type { OrderJournalOptions, OrderSender } from './journal-options.ts';
export type { JournaledOrder } from './journaled-order.ts';
export type { OrderLoop, OrderLoopOptions } from './loop-options.ts';
export { createOrderJournal } from './order-journal.ts';
