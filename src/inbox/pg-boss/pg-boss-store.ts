import { createHash } from 'node:crypto';
import { checkInteger } from '../../options/check-values.ts';
import type { LeasedDelivery } from '../attempt.ts';
import type { DeadLetterQuery } from '../dead-letter-options.ts';
import type { Handling } from '../handling-options.ts';
import type { Delivery } from '../inbox.ts';
import type { DeadLetter, InboxCounts } from '../managed-inbox.ts';
import { findDelivery, membersOf, writeDelivery } from '../stored-delivery.ts';
import type { Boss, BossDatabase, BossJob, BossJobOptions } from './pg-boss-types.ts';

/** A job that this process has leased. */
export interface BossLease extends LeasedDelivery {
  readonly id: string;
  /** Says whose lease it is: counts the leases before it. */
  readonly retryCount: number;
  /** A job to be tried alone. */
  readonly alone: boolean;
  /** The attempt before ended with its lease. */
  readonly lost: boolean;
}

/** Of a job that has to be tried alone: fetched by its own priority, and after all others by those who do not ask. */
const alonePriority = -1;

/** What is not handled is never deleted for its age; pg-boss wants a number. */
const tenYearsInSeconds = 10 * 366 * 24 * 60 * 60;
/** Attempts are counted by who handles: pg-boss would give up without a word. */
const never = 1_000_000_000;
/** Its columns hold no more. */
const longestSeconds = 2 ** 31 - 1;
/** pg-boss leases a job for no longer. */
const longestLeaseMs = 24 * 60 * 60 * 1000;
/** The time limit comes before the end of the lease, with room to write down that it was reached. */
const longestMarginMs = 5_000;

/** What the inbox needs of pg-boss: a queue, and another one for the dead letters. */
export type PgBossStore = ReturnType<typeof pgBossStore>;

/** @throws {ConfigurationError} `invalid_option` */
export function pgBossStore(boss: Boss, queue: string, handling: Handling) {
  const deadQueue = `${queue}_dead`;
  const marginMs = Math.min(handling.timeLimitMs, longestMarginMs);
  const timeLimitMs = checkInteger('timeLimitMs', handling.timeLimitMs, { most: longestLeaseMs - marginMs });
  const leaseSeconds = Math.ceil((timeLimitMs + marginMs) / 1000);
  const jobOptions: Omit<BossJobOptions, 'id'> = {
    retryLimit: never,
    retryDelay: seconds('retry.firstDelayMs', handling.retry.firstDelayMs),
    retryBackoff: true,
    retryDelayMax: seconds('retry.maxDelayMs', handling.retry.maxDelayMs),
    expireInSeconds: leaseSeconds,
    retentionSeconds: tenYearsInSeconds,
    deleteAfterSeconds: seconds('rememberMs', handling.rememberMs),
    // Only jobs with a group are in an index while they are active: counting them reads nothing else.
    group: { id: 'inbox' },
  };
  let isReady = false;

  /** Makes the queues where they are missing. At the beginning by several at once, which does no harm. */
  async function ready(): Promise<void> {
    if (isReady) return;
    await boss.createQueue(deadQueue, { retentionSeconds: tenYearsInSeconds });
    await boss.createQueue(queue, { retentionSeconds: tenYearsInSeconds, deadLetter: deadQueue });
    isReady = true;
  }

  /** False when there is a job of this id already. */
  async function send(name: string, data: object, options: BossJobOptions): Promise<boolean> {
    if ((await boss.send(name, data, options)) !== null) return true;
    // pg-boss says the same where the queue was deleted, or has a policy that refuses jobs.
    if ((await boss.findJobs(name, { id: options.id })).length > 0) return false;
    isReady = false;
    throw new Error(`pg-boss did not store a job in ${name}: was the queue deleted, or made with a policy?`);
  }

  /** pg-boss's own search, of which the database returns no more than is needed: by itself it returns every row. */
  async function search(name: string, narrow: (jobs: string) => string): Promise<readonly object[]> {
    await ready();
    const db: BossDatabase = {
      executeSql: (text, values) => boss.getDb().executeSql(narrow(`(${text})`), values),
    };
    return await boss.findJobs(name, { db });
  }

  async function findDead(digest: string): Promise<BossJob[]> {
    await ready();
    return (await boss.findJobs(deadQueue, { queued: true, data: { digest } })).map(toBossJob);
  }

  /** What became of this lease; `undefined` when it ran out, and another worker has the job. */
  async function stateOf({ id, retryCount }: BossLease): Promise<string | undefined> {
    const [job] = (await boss.findJobs(queue, { id })).map(toBossJob);
    return job?.retryCount === retryCount ? job.state : undefined;
  }

  /** Another job takes its place. False when it is another worker's by now. */
  async function replace(lease: BossLease, sendOther: () => Promise<unknown>): Promise<boolean> {
    const state = await stateOf(lease);
    // Done already, and the answer was lost.
    if (state === 'completed') return true;
    if (state !== 'active') return false;
    // In this order nothing is lost where it breaks off: the lease runs out, and it is replaced again.
    await sendOther();
    await boss.complete(queue, lease.id, null, { includeQueued: true });
    return true;
  }

  return {
    /** For how long a job belongs to whoever fetched it. */
    leaseMs: leaseSeconds * 1000,

    async insert(delivery: Delivery): Promise<'stored' | 'duplicate'> {
      await ready();
      const id = toUuid(delivery.digest);
      return (await send(queue, writeDelivery(delivery), { ...jobOptions, id })) ? 'stored' : 'duplicate';
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

    async complete({ id }: BossLease): Promise<void> {
      await boss.complete(queue, id, null, { includeQueued: true });
    },

    /** Has it tried again later. False when it is another worker's by now. */
    async postpone(lease: BossLease, reason: string): Promise<boolean> {
      const current = (await stateOf(lease)) === 'active';
      if (current) await boss.fail(queue, lease.id, { reason });
      return current;
    },

    /** A job that is none of ours: pg-boss does with it what it was told to. */
    async refuse({ id }: BossJob): Promise<void> {
      await boss.fail(queue, id, { reason: 'No delivery of the inbox.' });
    },

    /**
     * Has what lost its lease among others tried alone from now on. Its priority cannot be changed while it is leased:
     * it becomes another job, and this one the memory of its digest.
     */
    setApart(lease: BossLease): Promise<boolean> {
      const { id, delivery, receivedAt, retryCount } = lease;
      // Those that failed: the lease that was lost, the last one, does not count.
      const data = { ...writeDelivery(delivery), receivedAt, attempts: retryCount - 1 };
      const options = { ...jobOptions, id: nextUuid(id), priority: alonePriority };
      return replace(lease, () => send(queue, data, options));
    },

    /** False when it is another worker's by now. */
    moveToDeadLetters(
      lease: BossLease,
      { attempts, reason }: { attempts: number; reason: string },
    ): Promise<boolean> {
      const { id, delivery, receivedAt, alone } = lease;
      const data = { ...writeDelivery(delivery), receivedAt, attempts, reason, alone };
      return replace(lease, () => send(deadQueue, data, { id, retentionSeconds: tenYearsInSeconds }));
    },

    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const data = withBody ? 'data' : `data || '{"body":""}' AS data`;
      const oldest = (jobs: string) =>
        `SELECT ${data}, "createdOn", output, "sourceCreatedOn", "sourceRetryCount"
        FROM ${jobs} AS job WHERE state < 'active' AND NOT blocked
        ORDER BY priority DESC, "createdOn" LIMIT ${limit}`;
      return (await search(deadQueue, oldest)).map(toBossJob).flatMap((job) => {
        const delivery = findDelivery(job.data);
        if (delivery === undefined) return [];
        const { digest, name, body } = delivery;
        return [{ digest, name, ...noteOf(job), ...(withBody && { body }) }];
      });
    },

    async replay(digest: string): Promise<boolean> {
      const dead = await findDead(digest);
      for (const job of dead) {
        const delivery = findDelivery(job.data);
        if (delivery === undefined) continue;
        const data = { ...writeDelivery(delivery), receivedAt: noteOf(job).receivedAt.getTime() };
        // However often and by whomever it is replayed, this dead letter becomes one job; and is deleted last.
        const priority = membersOf(job.data).alone === true ? alonePriority : 0;
        await send(queue, data, { ...jobOptions, id: nextUuid(job.id), priority });
        await boss.deleteJob(deadQueue, job.id);
      }
      return dead.length > 0;
    },

    async discard(digest: string): Promise<boolean> {
      const ids = (await findDead(digest)).map(({ id }) => id);
      if (ids.length > 0) await boss.deleteJob(deadQueue, ids);
      return ids.length > 0;
    },

    /** Both from indexes alone, whatever is remembered. */
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

/** The delivery of a job that was leased; `undefined` when it holds none. */
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
    alone: priority <= alonePriority,
    // What ended in order has a reason of ours; pg-boss gives its own to what has run out.
    lost: retryCount > 0 && typeof membersOf(output).reason !== 'string',
  };
}

/** The time limit that makes a lease this long. Who stored the job chose it, and may have other options. */
function limitWithin(leaseMs: number): number {
  return leaseMs - Math.min(leaseMs / 2, longestMarginMs);
}

/** What is known of a job besides its delivery, of whichever of the two wrote it down. */
function noteOf({ data, output, createdOn, sourceCreatedOn, sourceRetryCount }: BossJob) {
  const { receivedAt, attempts, reason } = membersOf(data);
  // Jobs that were sent by hand, with a retry limit, are moved by pg-boss.
  const { reason: moved } = membersOf(output);
  return {
    receivedAt: typeof receivedAt === 'number' ? new Date(receivedAt) : (sourceCreatedOn ?? createdOn),
    attempts: typeof sourceRetryCount === 'number' ? sourceRetryCount + 1 : Number(attempts ?? 0),
    reason: String((typeof sourceRetryCount === 'number' ? moved : reason) ?? '').slice(0, 500),
  };
}

/** 128 of the 256 bits: enough that no two deliveries share them. */
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

/** pg-boss returns all of these when asked for the metadata. */
function toBossJob(job: object): BossJob {
  return job as BossJob;
}
