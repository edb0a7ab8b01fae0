import { describeError } from '../../redaction/describe-error.ts';
import { leaseLost } from '../lease-lost.ts';
import type { BullJob } from './bullmq-types.ts';

/**
 * What a job failed with that was started once more only to be given up: by us, or by BullMQ where `createWorker`
 * sets `maxStalledCount` or `maxStartedAttempts`.
 */
const notHandled: ReadonlySet<unknown> = new Set([
  describeError(leaseLost()),
  'job stalled more than allowable limit',
  'job started more than allowable limit',
]);

/** How often the handlers of a failed job were begun. */
export function attemptsOf({ attemptsStarted, failedReason }: BullJob): number {
  return notHandled.has(failedReason) ? attemptsStarted - 1 : attemptsStarted;
}
