/**
 * A durable inbox on `node:sqlite`, for one machine.
 *
 * @module partner-exchange-sdk/inbox/sqlite
 */
export { InboxError, type InboxErrorCode, isInboxError } from '../../errors/inbox-error.ts';
export { isPartnerExchangeError, type SdkError } from '../../errors/sdk-error.ts';
export type { Sleep } from '../../runtime/sleep.ts';
export type { DeadLetterOptions, DeadLetterReadOptions } from '../dead-letter-options.ts';
export type { HandlingOptions, RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../managed-inbox.ts';
export { type SqliteInboxOptions, sqliteInbox } from './sqlite-inbox.ts';
