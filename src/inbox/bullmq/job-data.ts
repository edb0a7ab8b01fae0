import { membersOf } from '../stored-delivery.ts';
import type { BullJob } from './bullmq-types.ts';

/** The attempts of a delivery that is tried alone. */
export interface AloneRecord {
  /** The last attempt that was started. */
  readonly attempt: number;
  /** It is a dead letter. A replay gives it all its attempts again. */
  readonly dead: boolean;
}

/** The data of a job that no handler gets: BullMQ completes it, and deletes it. */
export const discardedJobData: object = Object.freeze({ handled: true });

export function aloneJobData({ data }: BullJob, alone: AloneRecord): object {
  return { ...membersOf(data), alone };
}

/** `undefined` before the first attempt alone. */
export function readAloneRecord({ data }: BullJob): AloneRecord | undefined {
  const { attempt, dead } = membersOf(membersOf(data).alone);
  return typeof attempt === 'number' ? { attempt, dead: dead === true } : undefined;
}

/** How often a job's handlers were started, without a lease that was lost while others ran. */
export function attemptsOf(job: BullJob): number {
  return readAloneRecord(job)?.attempt ?? job.attemptsMade;
}
