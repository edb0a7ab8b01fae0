import { createHash } from 'node:crypto';
import { checkInteger } from '../../options/check-values.ts';
import type { DeadLetterQuery, DeadLetterRead } from '../dead-letter-options.ts';
import type { Handling } from '../handling-options.ts';
import type { Delivery } from '../inbox.ts';
import type { DeadLetter, InboxCounts } from '../managed-inbox.ts';
import { findDelivery, membersOf, writeDelivery } from '../stored-delivery.ts';
import { alonePriority, type BossLease, longestMarginMs, noteOf } from './boss-lease.ts';
import { type InsertResult, insertJobs } from './insert-jobs.ts';
import type { Boss, BossJob, NewBossJob } from './pg-boss-types.ts';
import { searchJobs } from './search-jobs.ts';

/** Unhandled jobs must never be deleted for their age, but pg-boss wants a number. */
const tenYearsInSeconds = 10 * 366 * 24 * 60 * 60;
/** The handling process counts attempts: pg-boss would give up silently. */
const never = 1_000_000_000;
/** Its columns hold no larger number. */
const longestSeconds = 2 ** 31 - 1;
/** The longest lease that pg-boss allows. */
const longestLeaseMs = 24 * 60 * 60 * 1000;

/** The inbox's two queues in pg-boss: the deliveries, and the dead letters. */
export type PgBossStore = ReturnType<typeof pgBossStore>;

/** @throws {ConfigurationError} `invalid_option` */
export function pgBossStore(boss: Boss, queue: string, handling: Handling) {
  const deadQueue = `${queue}_dead`;
  const marginMs = Math.min(handling.timeLimitMs, longestMarginMs);
  const timeLimitMs = checkInteger('timeLimitMs', handling.timeLimitMs, { most: longestLeaseMs - marginMs });
  const leaseSeconds = Math.ceil((timeLimitMs + marginMs) / 1000);
  const jobOptions: Omit<NewBossJob, 'id' | 'data'> = {
    retryLimit: never,
    retryDelay: seconds('retry.firstDelayMs', handling.retry.firstDelayMs),
    retryBackoff: true,
    retryDelayMax: seconds('retry.maxDelayMs', handling.retry.maxDelayMs),
    expireInSeconds: leaseSeconds,
    retentionSeconds: tenYearsInSeconds,
    deleteAfterSeconds: seconds('rememberMs', handling.rememberMs),
    // While active, only jobs with a group are in an index, so counting them reads nothing else. It is given as pg-boss
    // stores it: insert in 12.26 ignores `group`.
    groupId: 'inbox',
  };
  const toNewJob = (delivery: Delivery): NewBossJob => ({
    ...jobOptions,
    id: toUuid(delivery.digest),
    data: writeDelivery(delivery),
  });
  let isReady = false;

  /** Makes the queues if they are missing. Several calls may run this at the start, which does no harm. */
  async function ready(): Promise<void> {
    if (isReady) return;
    await boss.createQueue(deadQueue, { retentionSeconds: tenYearsInSeconds });
    await boss.createQueue(queue, { retentionSeconds: tenYearsInSeconds, deadLetter: deadQueue });
    isReady = true;
  }

  async function insert(name: string, jobs: readonly NewBossJob[]): Promise<InsertResult[]> {
    const results = await insertJobs(boss, name, jobs);
    // Then the queue may be gone.
    if (results.some((result) => result instanceof Error)) isReady = false;
    return results;
  }

  async function insertOne(name: string, job: NewBossJob): Promise<void> {
    const [result] = await insert(name, [job]);
    if (result instanceof Error) throw result;
  }

  async function search(name: string, narrow: (jobs: string) => string): Promise<readonly object[]> {
    await ready();
    return await searchJobs(boss, name, narrow);
  }

  async function findDead(digest: string): Promise<BossJob[]> {
    await ready();
    return (await boss.findJobs(deadQueue, { queued: true, data: { digest } })).map(toBossJob);
  }

  /** The state of this lease's job; `undefined` if the lease expired and another worker has it. */
  async function stateOf({ id, retryCount }: BossLease): Promise<string | undefined> {
    const [job] = (await boss.findJobs(queue, { id })).map(toBossJob);
    return job?.retryCount === retryCount ? job.state : undefined;
  }

  /** Replaces a job with another one. False if another worker has it by now. */
  async function replace(lease: BossLease, insertOther: () => Promise<unknown>): Promise<boolean> {
    const state = await stateOf(lease);
    // It was done before, but the answer was lost.
    if (state === 'completed') return true;
    if (state !== 'active') return false;
    // This order loses nothing if it is interrupted: the lease expires, and the job is replaced again.
    await insertOther();
    await boss.complete(queue, lease.id, null, { includeQueued: true });
    return true;
  }

  return {
    /** How long a job belongs to the process that fetched it. */
    leaseMs: leaseSeconds * 1000,

    /** Stores deliveries in one transaction, and says what became of each. */
    async insert(deliveries: readonly Delivery[]): Promise<InsertResult[]> {
      await ready();
      return await insert(queue, deliveries.map(toNewJob));
    },

    /** Leases jobs that may run side by side. */
    async lease(limit: number): Promise<BossJob[]> {
      await ready();
      const options = { batchSize: limit, includeMetadata: true, minPriority: alonePriority + 1 } as const;
      return (await boss.fetch(queue, options)).map(toBossJob);
    },

    async isAloneDue(): Promise<boolean> {
      const due = (
        jobs: string,
      ) => `SELECT 1 AS number FROM ${jobs} AS job WHERE state < 'active' AND NOT blocked
        AND priority <= ${alonePriority} AND "startAfter" <= now() LIMIT 1`;
      return (await search(queue, due)).length > 0;
    },

    async leaseAlone(): Promise<BossJob[]> {
      await ready();
      const options = { batchSize: 1, includeMetadata: true, maxPriority: alonePriority } as const;
      return (await boss.fetch(queue, options)).map(toBossJob);
    },

    /** Marks handled jobs in one transaction. A digest is remembered although another worker has its job by now. */
    async complete(leases: readonly BossLease[]): Promise<true[]> {
      const ids = leases.map(({ id }) => id);
      await boss.complete(queue, ids, null, { includeQueued: true });
      return leases.map(() => true);
    },

    /** Schedules another attempt. False if another worker has it by now. */
    async postpone(lease: BossLease, reason: string): Promise<boolean> {
      const current = (await stateOf(lease)) === 'active';
      if (current) await boss.fail(queue, lease.id, { reason });
      return current;
    },

    /** Fails a job that is not ours: pg-boss does with it what its options say. */
    async refuse({ id }: BossJob): Promise<void> {
      await boss.fail(queue, id, { reason: 'No delivery of the inbox.' });
    },

    /**
     * From now on a job that lost its lease while others ran is tried alone. The priority of a leased job cannot
     * change, so it becomes another job, and this one only remembers its digest.
     */
    setApart(lease: BossLease): Promise<boolean> {
      const { id, delivery, receivedAt, retryCount } = lease;
      // The failed attempts: the last one, whose lease was lost, does not count.
      const data = { ...writeDelivery(delivery), receivedAt, attempts: retryCount - 1 };
      const job = { ...jobOptions, id: nextUuid(id), priority: alonePriority, data };
      return replace(lease, () => insertOne(queue, job));
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(
      lease: BossLease,
      { attempts, reason }: { attempts: number; reason: string },
    ): Promise<boolean> {
      const { id, delivery, receivedAt, alone } = lease;
      const data = { ...writeDelivery(delivery), receivedAt, attempts, reason, alone };
      const job = { id, retentionSeconds: tenYearsInSeconds, data };
      return replace(lease, () => insertOne(deadQueue, job));
    },

    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const data = withBody ? 'data' : `data || '{"body":""}' AS data`;
      const oldest = (jobs: string) =>
        `SELECT ${data}, "createdOn", output, "sourceCreatedOn", "sourceRetryCount"
        FROM ${jobs} AS job WHERE state < 'active' AND NOT blocked
        ORDER BY priority DESC, "createdOn" LIMIT ${limit}`;
      const jobs = (await search(deadQueue, oldest)).map(toBossJob);
      return jobs.flatMap((job) => toDeadLetter(job, { withBody }) ?? []);
    },

    async deadLetter(digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined> {
      const [job] = await findDead(digest);
      return job && toDeadLetter(job, read);
    },

    async replay(digest: string): Promise<boolean> {
      const dead = await findDead(digest);
      for (const job of dead) {
        const delivery = findDelivery(job.data);
        if (delivery === undefined) continue;
        const data = { ...writeDelivery(delivery), receivedAt: noteOf(job).receivedAt.getTime() };
        // However often and by whomever a dead letter is replayed, it becomes one job; it is deleted last.
        const priority = membersOf(job.data).alone === true ? alonePriority : 0;
        await insertOne(queue, { ...jobOptions, id: nextUuid(job.id), priority, data });
        await boss.deleteJob(deadQueue, job.id);
      }
      return dead.length > 0;
    },

    async discard(digest: string): Promise<boolean> {
      const ids = (await findDead(digest)).map(({ id }) => id);
      if (ids.length > 0) await boss.deleteJob(deadQueue, ids);
      return ids.length > 0;
    },

    /** Both counts come from indexes, however much is remembered. */
    async counts(): Promise<InboxCounts> {
      const waiting = (jobs: string) =>
        `SELECT count(*) AS number FROM ${jobs} AS job WHERE state < 'active' AND NOT blocked`;
      const active = (jobs: string) =>
        `SELECT count(*) AS number FROM ${jobs} AS job WHERE state = 'active' AND "groupId" IS NOT NULL`;
      const [open, dead] = await Promise.all([
        search(queue, (jobs) => `${waiting(jobs)} UNION ALL ${active(jobs)}`),
        search(deadQueue, waiting),
      ]);
      return { open: sum(open), dead: sum(dead) };
    },
  };
}

/** `undefined` if the job holds no delivery. */
function toDeadLetter(job: BossJob, { withBody }: DeadLetterRead): DeadLetter | undefined {
  const delivery = findDelivery(job.data);
  if (delivery === undefined) return undefined;
  const { digest, name, body } = delivery;
  return { digest, name, ...noteOf(job), ...(withBody && { body }) };
}

/** 128 of the 256 bits, enough for no two deliveries to share them. */
function toUuid(digest: string): string {
  const part = (from: number, to: number) => digest.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

function nextUuid(id: string): string {
  return toUuid(createHash('sha256').update(id).digest('hex'));
}

function seconds(name: string, ms: number): number {
  return Math.ceil(checkInteger(name, ms, { most: longestSeconds * 1000 }) / 1000);
}

function sum(rows: readonly object[]): number {
  return rows.reduce((total, row) => total + Number(membersOf(row).number), 0);
}

/** pg-boss returns all of these if asked for metadata. */
function toBossJob(job: object): BossJob {
  return job as BossJob;
}
