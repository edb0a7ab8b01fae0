/**
 * Keep verified deliveries until they are handled. The durable inboxes have entries of their own: `./inbox/sqlite`,
 * `./inbox/bullmq`, `./inbox/pg-boss`.
 *
 * @module partner-exchange-sdk/inbox
 */
export { InboxError, type InboxErrorCode, isInboxError } from '../errors/inbox-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export type { DeadLetterOptions, DeadLetterReadOptions } from './dead-letter-options.ts';
export type { HandlingOptions, RetryDelays } from './handling-options.ts';
export type {
  AttemptResult,
  Delivery,
  HandleDelivery,
  Inbox,
  InboxHost,
  InboxResult,
} from './inbox.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from './managed-inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './memory/memory-inbox.ts';
