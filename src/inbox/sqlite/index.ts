/**
 * A durable inbox on `node:sqlite`, for one machine.
 *
 * @module partner-exchange-sdk/inbox/sqlite
 */
export { InboxError, isInboxError } from '../../errors/errors.ts';
export type { Sleep } from '../../internal/backoff.ts';
export type { RandomBytes } from '../../internal/options.ts';
export type { RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../inbox.ts';
export { type SqliteInboxOptions, sqliteInbox } from './sqlite-inbox.ts';
