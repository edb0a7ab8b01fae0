import type { JsonObject } from '../../internal/json.ts';
import { unknownMembers } from '../../internal/unknown-members.ts';
import type { LeasedDelivery } from '../handling-attempt.ts';
import { deliveryMembers, findDelivery, membersOf } from '../stored-delivery.ts';
import type { BossJob } from './pg-boss-job.ts';

export interface BossLease extends LeasedDelivery {
  readonly id: string;
  /** The members of its data that this version does not know. */
  readonly kept: JsonObject;
  /** Identifies the lease: the number of leases before it. */
  readonly retryCount: number;
  readonly isolated: boolean;
  /** Whether the previous lease expired. */
  readonly lost: boolean;
}

/** Jobs to be tried alone are fetched by this priority, and last by others. */
export const isolatedPriority = -1;

/** The time limit ends before the lease, which leaves time to store the result. */
export const longestMarginMs = 5_000;

/** `undefined` if the job holds no delivery. */
export function toLease(job: BossJob): BossLease | undefined {
  const { id, data, retryCount, priority, output } = job;
  const delivery = findDelivery(data);
  if (delivery === undefined) return undefined;
  const note = noteOf(job);
  return {
    id,
    kept: unknownDataOf(job),
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

/** The job that replaces this one has them too. */
export function unknownDataOf({ data }: BossJob): JsonObject {
  return unknownMembers(data, {
    ...deliveryMembers,
    ...{ receivedAt: true, attempts: true, reason: true, alone: true },
  });
}

/** The process that stored the job chose its lease, and may have other options. */
function limitWithin(leaseMs: number): number {
  return leaseMs - Math.min(leaseMs / 2, longestMarginMs);
}

/** Whether we or pg-boss stored it. */
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
