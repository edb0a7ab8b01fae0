import { membersOf } from '../stored-delivery.ts';

/** The parts of a BullMQ `Job` that we use. */
export interface BullJob {
  readonly id?: string | undefined;
  readonly name: string;
  // A store may return anything, so this is checked where it is read.
  readonly data: unknown;
  readonly timestamp: number;
  readonly deduplicationId?: string | undefined;
  /** Attempts that ended, without those of processes that died. */
  readonly attemptsMade: number;
  /** How often its lock was lost; a replay does not reset it. */
  readonly stalledCounter: number;
  token?: string | undefined;
  readonly failedReason?: string | undefined;
  readonly finishedOn?: number | undefined;
  updateData(data: object): Promise<void>;
  /** 0 if another worker has the lock. */
  extendLock(token: string, durationMs: number): Promise<number>;
  moveToWait(token: string): Promise<unknown>;
  /** Does not count as an attempt. */
  moveToDelayed(timestamp: number, token: string): Promise<unknown>;
  retry(
    state: 'failed',
    options: { resetAttemptsMade: boolean; resetAttemptsStarted: boolean },
  ): Promise<void>;
  isFailed(): Promise<boolean>;
}

/** The parts of a BullMQ `Queue` that we use. */
export interface BullQueue {
  readonly name: string;
  /** With the prefix of the queue. */
  readonly qualifiedName?: string;
  /** Since BullMQ 6. Its `client`, like the queue's own before, is what the quarantine uses. */
  getBackend?(): object;
  add(
    name: string,
    data: object,
    options: {
      jobId?: string;
      deduplication: { id: string; ttl: number; extend?: boolean };
      attempts?: number;
      backoff?: { type: string };
      removeOnComplete: boolean;
      removeOnFail?: boolean;
      stackTraceLimit?: number;
    },
  ): Promise<Pick<BullJob, 'id'>>;
  getDeduplicationJobId(id: string): Promise<string | null>;
  getJob(id: string): Promise<BullJob | undefined>;
  getJobs(
    types: ('waiting' | 'active' | 'delayed' | 'prioritized' | 'failed')[],
    start: number,
    end: number,
    ascending: boolean,
  ): Promise<(BullJob | undefined)[]>;
  getJobCounts(
    ...types: ('waiting' | 'active' | 'delayed' | 'failed' | 'prioritized')[]
  ): Promise<Record<string, number>>;
}

/** The parts of a BullMQ `Worker` that we use. */
export interface BullWorker {
  /** May be changed while the worker runs. */
  concurrency: number;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  disconnect(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'completed', listener: (job: BullJob) => void): unknown;
  on(event: 'failed', listener: (job: BullJob | undefined, error: Error) => void): unknown;
}

/** The parts of the options of a BullMQ `Worker` that we use. */
export interface BullWorkerOptions {
  concurrency: number;
  lockDuration: number;
  stalledInterval: number;
  maxStalledCount: number;
  settings: { backoffStrategy: (attemptsMade: number) => number };
}

/** The attempts of a delivery that is tried alone. */
interface IsolationRecord {
  /** The last one that was started. */
  readonly attempt: number;
  /** It is a dead letter. A replay gives it all its attempts again. */
  readonly dead: boolean;
}

export function isolatedJobData({ data }: BullJob, isolation: IsolationRecord): object {
  return { ...membersOf(data), alone: isolation };
}

/** BullMQ's stream of events would keep the reason of a final failure when the job is long gone. */
export function deadJobData({ data }: BullJob, reason: string): object {
  return { ...membersOf(data), reason };
}

export function reasonOf({ data, failedReason }: BullJob): string {
  return String(membersOf(data).reason ?? failedReason ?? '').slice(0, 500);
}

/** `undefined` before the first attempt alone. */
export function readIsolationRecord({ data }: BullJob): IsolationRecord | undefined {
  const { attempt, dead } = membersOf(membersOf(data).alone);
  return typeof attempt === 'number' ? { attempt, dead: dead === true } : undefined;
}

/** Without attempts whose lease was lost while others ran. */
export function attemptsOf(job: BullJob): number {
  return readIsolationRecord(job)?.attempt ?? job.attemptsMade;
}
