/**
 * A durable inbox on your BullMQ queue, for many machines.
 *
 * @module partner-exchange-sdk/inbox/bullmq
 */
export { InboxError, isInboxError } from '../../errors/errors.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export type { RandomBytes } from '../../internal/options.ts';
export type { RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../inbox.ts';
export { type BullmqInboxOptions, bullmqInbox } from './bullmq-inbox.ts';
export type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-job.ts';
