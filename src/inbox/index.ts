/**
 * Keep verified deliveries until they are handled. The durable inboxes have entries of their own: `./inbox/sqlite`,
 * `./inbox/bullmq`, `./inbox/pg-boss`, `./inbox/store`, `./inbox/queue`.
 *
 * @module partner-exchange-sdk/inbox
 */

export type { MatchedKey } from '../credentials/verification-keys.ts';
export { InboxError, type InboxErrorCode, isInboxError } from '../errors/errors.ts';
export type { RandomBytes } from '../internal/options.ts';
export type { ListOptions, RecordSet, RecordStore, StoredRecord } from '../store/record-store.ts';
export type { HandlingOptions, RetryDelays } from './handling-options.ts';
export type {
  AttemptResult,
  BacklogHealth,
  DeadLetter,
  DeadLetterOptions,
  DeadLetterReadOptions,
  Delivery,
  DeliveryHolder,
  DeliveryReference,
  DeliveryStep,
  DeliveryStory,
  HandleDelivery,
  HandleOptions,
  HandleResult,
  Inbox,
  InboxCounts,
  InboxHost,
  InboxResult,
  ManagedInbox,
} from './inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './memory-inbox.ts';
export type {
  KeptBody,
  Quarantine,
  QuarantineOptions,
  QuarantinePage,
  UnverifiedText,
} from './quarantine/quarantine.ts';
