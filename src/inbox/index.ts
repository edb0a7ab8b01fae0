/**
 * Keep verified deliveries until they are handled: in memory, in a SQLite file, in any record store, or in your queue.
 *
 * @module partner-exchange-sdk/inbox
 */

export type { MatchedKey } from '../credentials/verification-keys.ts';
export {
  ConfigurationError,
  InboxError,
  type InboxErrorCode,
  isConfigurationError,
  isInboxError,
} from '../errors/errors.ts';
export type { RetryDelays, Sleep } from '../internal/backoff.ts';
export type { RandomBytes } from '../internal/options.ts';
export type { StoreCallOptions } from '../store/limited-calls.ts';
export type { ListRecordsOptions, RecordSet, RecordStore, StoredRecord } from '../store/record-store.ts';
export type { DeadLetter, DeadLetterOptions } from './dead-letters.ts';
export type { HandlingOptions } from './handling-options.ts';
export type {
  AttemptResult,
  Delivery,
  DeliveryReference,
  DeliveryStatus,
  HandleDelivery,
  HandleOptions,
  HandleResult,
  HandlingOutcome,
  Inbox,
  InboxCounts,
  InboxHealth,
  InboxHost,
  InboxResult,
  ManagedInbox,
} from './inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './memory-inbox.ts';
export type {
  Quarantine,
  QuarantineOptions,
  QuarantinePage,
  UnverifiedText,
} from './quarantine/quarantine.ts';
export {
  type HandleMessageOptions,
  type MessageResult,
  type QueueInbox,
  type QueueInboxOptions,
  queueInbox,
} from './queue/queue-inbox.ts';
export type { QueueMessage } from './queue/queue-message.ts';
export { type SqliteInbox, type SqliteInboxOptions, sqliteInbox } from './sqlite/sqlite-inbox.ts';
export type { DrainOptions, DrainResult } from './store/drain.ts';
export { type StoreInbox, type StoreInboxOptions, storeInbox } from './store/store-inbox.ts';
