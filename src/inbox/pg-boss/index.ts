/**
 * A durable inbox on your pg-boss, for many machines.
 *
 * @module partner-exchange-sdk/inbox/pg-boss
 */
export { InboxError, type InboxErrorCode, isInboxError } from '../../errors/inbox-error.ts';
export { isPartnerExchangeError, type SdkError } from '../../errors/sdk-error.ts';
export type { Sleep } from '../../runtime/sleep.ts';
export type { DeadLetterOptions, DeadLetterReadOptions } from '../dead-letter-options.ts';
export type { HandlingOptions, RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../managed-inbox.ts';
export type { StoreCallOptions } from '../store-calls.ts';
export { type PgBossInboxOptions, pgBossInbox } from './pg-boss-inbox.ts';
export type { Boss, BossDatabase, NewBossJob } from './pg-boss-types.ts';
