import type { Delivery } from '../inbox.ts';
import { membersOf, writeDelivery } from '../stored-delivery.ts';
import type { BullJob } from './bullmq-types.ts';

/** The attempts of a delivery that is tried alone. */
export interface AloneRecord {
  /** The last one that was begun. */
  readonly attempt: number;
  /** It is a dead letter: replayed, it has all its attempts again. */
  readonly dead: boolean;
}

/** The data of a new job. BullMQ leaves a job that is there already as it is: `storedBy` says whose it is. */
export function newJobData(delivery: Delivery, storedBy: string): object {
  return { ...writeDelivery(delivery), storedBy };
}

export function isStoredBy(storedBy: string, { data }: BullJob): boolean {
  return membersOf(data).storedBy === storedBy;
}

/** What is kept of a job as the memory of its digest: without the body it needs little room. */
export function handledJobData({ data, name }: BullJob): object {
  return { handled: true, name, storedBy: membersOf(data).storedBy };
}

export function aloneJobData({ data }: BullJob, alone: AloneRecord): object {
  return { ...membersOf(data), alone };
}

/** Absent before the first attempt alone. */
export function readAloneRecord({ data }: BullJob): AloneRecord | undefined {
  const { attempt, dead } = membersOf(membersOf(data).alone);
  return typeof attempt === 'number' ? { attempt, dead: dead === true } : undefined;
}

/** How often the handlers of a job were begun, without the lease that was lost among others. */
export function attemptsOf(job: BullJob): number {
  return readAloneRecord(job)?.attempt ?? job.attemptsMade;
}
