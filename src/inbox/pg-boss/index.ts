/**
 * A durable inbox on your pg-boss, for many machines.
 *
 * @module partner-exchange-sdk/inbox/pg-boss
 */
export { InboxError, isInboxError } from '../../errors/errors.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../inbox.ts';
export { type PgBossInboxOptions, pgBossInbox } from './pg-boss-inbox.ts';
