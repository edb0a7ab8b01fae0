/**
 * Keep verified deliveries until they are handled. The durable inboxes have entries of their own: `./inbox/sqlite`,
 * `./inbox/bullmq`, `./inbox/pg-boss`, `./inbox/store`, `./inbox/queue`.
 *
 * @module partner-exchange-sdk/inbox
 */
export { InboxError, type InboxErrorCode, isInboxError } from '../errors/errors.ts';
export type { HandlingOptions } from './handling-options.ts';
export type {
  AttemptResult,
  DeadLetter,
  DeadLetterOptions,
  Delivery,
  DeliveryReference,
  HandleDelivery,
  HandleResult,
  Inbox,
  InboxCounts,
  InboxHost,
  InboxResult,
  ManagedInbox,
} from './inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './memory-inbox.ts';
export type { KeptBody, Quarantine, QuarantineOptions, UnverifiedText } from './quarantine/quarantine.ts';
