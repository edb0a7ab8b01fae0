/**
 * The order journal: no order twice, none forgotten, none credited elsewhere unseen.
 *
 * @module partner-exchange-sdk/orders
 */

export type { EventSigner, KeyOrigin, PartnerNames } from '../credentials/partner-credentials.ts';
export type { DuplicateIds } from '../deployment/learnt-deployment.ts';
export type { KnownOrder, SameOrder } from '../deployment/same-order.ts';
export {
  isOrderError,
  isRequestError,
  isStoreError,
  isValidationError,
  OrderError,
  type OrderErrorCode,
  ValidationError,
  type ValidationErrorCode,
} from '../errors/errors.ts';
export type { OrderJournalOptions, OrderSender } from './journal-options.ts';
export type {
  CreatedOrder,
  CreateOrderOptions,
  JournalHealth,
  ListOrdersOptions,
  Observation,
  OrderJournal,
  PrepareOrderOptions,
  SettleOptions,
  UnsettledOptions,
} from './journal-types.ts';
export type { JournaledEvent, JournaledOrder } from './journaled-order.ts';
export type { OrderLoop, OrderLoopOptions } from './loop-options.ts';
export { type ObservedEvent, refusedEvent } from './named-order.ts';
export type { OrderDifference } from './order-differences.ts';
export type { OrderFinding, OrderFindingKind } from './order-findings.ts';
export { createOrderJournal } from './order-journal.ts';
export type { OrderState } from './order-state.ts';
export type { ReconcileOptions, StatementRow } from './reconcile.ts';
