/**
 * A durable inbox over a record store: for a server, and for programs without a process that stays.
 *
 * @module partner-exchange-sdk/inbox/store
 */
export {
  InboxError,
  isInboxError,
} from '../../errors/errors.ts';
export type { Sleep } from '../../internal/backoff.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { RetryDelays } from '../handling-options.ts';
export type {
  BacklogHealth,
  DeadLetter,
  DeadLetterReadOptions,
  DeliveryHolder,
  DeliveryStep,
  DeliveryStory,
  InboxCounts,
  ManagedInbox,
} from '../inbox.ts';
export {
  type DrainOptions,
  type DrainResult,
  type StoreInbox,
  type StoreInboxOptions,
  storeInbox,
} from './store-inbox.ts';
