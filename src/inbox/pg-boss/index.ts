/**
 * A durable inbox on your pg-boss, for many machines.
 *
 * @module partner-exchange-sdk/inbox/pg-boss
 */
export { InboxError, isInboxError } from '../../errors/errors.ts';
export type { Sleep } from '../../internal/backoff.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../inbox.ts';
export { type PgBossInboxOptions, pgBossInbox } from './pg-boss-inbox.ts';
export type { Boss, BossDatabase, NewBossJob } from './pg-boss-job.ts';
