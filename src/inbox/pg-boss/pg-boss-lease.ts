import type { LeasedDelivery } from '../attempt.ts';
import { findDelivery, membersOf } from '../stored-delivery.ts';
import type { BossJob } from './pg-boss-job.ts';

/** A job that this process has leased. */
export interface BossLease extends LeasedDelivery {
  readonly id: string;
  /** Identifies the lease: the number of leases before it. */
  readonly retryCount: number;
  /** A job to be tried alone. */
  readonly isolated: boolean;
  /** The previous attempt ended because its lease expired. */
  readonly lost: boolean;
}

/** For jobs that have to be tried alone: they are fetched by this priority, and last by everybody else. */
export const isolatedPriority = -1;

/** The time limit ends before the lease, which leaves time to store the result. */
export const longestMarginMs = 5_000;

/** The delivery of a leased job; `undefined` if it holds none. */
export function toLease(job: BossJob): BossLease | undefined {
  const { id, data, retryCount, priority, output } = job;
  const delivery = findDelivery(data);
  if (delivery === undefined) return undefined;
  const note = noteOf(job);
  return {
    id,
    delivery,
    attempt: note.attempts + retryCount + 1,
    receivedAt: note.receivedAt.getTime(),
    timeLimitMs: limitWithin(job.expireInSeconds * 1000),
    retryCount,
    isolated: priority <= isolatedPriority,
    // Our own failures have a reason; pg-boss stores its own when a lease expires.
    lost: retryCount > 0 && typeof membersOf(output).reason !== 'string',
  };
}

/** The time limit that fits this lease. The process that stored the job chose it, and may have other options. */
function limitWithin(leaseMs: number): number {
  return leaseMs - Math.min(leaseMs / 2, longestMarginMs);
}

/** What is known of a job besides its delivery, whether we or pg-boss stored it. */
export function noteOf({ data, output, createdOn, sourceCreatedOn, sourceRetryCount }: BossJob) {
  const { receivedAt, attempts, reason } = membersOf(data);
  // pg-boss itself moves jobs that were sent by hand with a retry limit.
  const { reason: moved } = membersOf(output);
  return {
    receivedAt: typeof receivedAt === 'number' ? new Date(receivedAt) : (sourceCreatedOn ?? createdOn),
    attempts: typeof sourceRetryCount === 'number' ? sourceRetryCount + 1 : Number(attempts ?? 0),
    reason: String((typeof sourceRetryCount === 'number' ? moved : reason) ?? '').slice(0, 500),
  };
}
