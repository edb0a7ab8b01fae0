/**
 * A durable inbox on your BullMQ queue, for many machines.
 *
 * @module partner-exchange-sdk/inbox/bullmq
 */
export { InboxError, type InboxErrorCode, isInboxError } from '../../errors/inbox-error.ts';
export { isPartnerExchangeError, type SdkError } from '../../errors/sdk-error.ts';
export type { DeadLetterOptions, DeadLetterReadOptions } from '../dead-letter-options.ts';
export type { HandlingOptions, RetryDelays } from '../handling-options.ts';
export type { DeadLetter, InboxCounts, ManagedInbox } from '../managed-inbox.ts';
export type { StoreCallOptions } from '../store-calls.ts';
export { type BullmqInboxOptions, bullmqInbox } from './bullmq-inbox.ts';
export type { BullJob, BullQueue, BullWorker, BullWorkerOptions } from './bullmq-types.ts';
