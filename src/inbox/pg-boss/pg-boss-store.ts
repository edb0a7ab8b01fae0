import { createHash } from 'node:crypto';
import type { LeasedDelivery } from '../attempt.ts';
import { type Handling, wholeNumber } from '../handling-options.ts';
import type { Delivery } from '../inbox.ts';
import type { DeadLetter, InboxCounts } from '../managed-inbox.ts';
import { findDelivery, writeDelivery } from '../stored-delivery.ts';
import type { Boss, BossDatabase, BossJob, BossJobOptions } from './pg-boss-types.ts';

/** A job that this process works on. */
export interface TakenJob extends LeasedDelivery {
  readonly id: string;
}

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
  const timeLimitMs = wholeNumber('timeLimitMs', handling.timeLimitMs, longestLeaseMs - marginMs);
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

  /** What became of this attempt; `undefined` when its lease ran out, and another worker took the job. */
  async function stateOf({ id, attempt }: TakenJob): Promise<string | undefined> {
    const [job] = (await boss.findJobs(queue, { id })).map(toBossJob);
    return job?.retryCount === attempt - 1 ? job.state : undefined;
  }

  return {
    /** For how long a job belongs to who has taken it. */
    leaseMs: leaseSeconds * 1000,

    async insert(delivery: Delivery): Promise<'stored' | 'duplicate'> {
      await ready();
      const id = toUuid(delivery.digest);
      return (await send(queue, writeDelivery(delivery), { ...jobOptions, id })) ? 'stored' : 'duplicate';
    },

    async take(limit: number): Promise<BossJob[]> {
      await ready();
      return (await boss.fetch(queue, { batchSize: limit, includeMetadata: true })).map(toBossJob);
    },

    async complete({ id }: TakenJob): Promise<void> {
      await boss.complete(queue, id, null, { includeQueued: true });
    },

    /** Has it tried again later. False when it is another worker's by now. */
    async postpone(taken: TakenJob, reason: string): Promise<boolean> {
      const current = (await stateOf(taken)) === 'active';
      if (current) await boss.fail(queue, taken.id, { reason });
      return current;
    },

    /** A job that is none of ours: pg-boss does with it what it was told to. */
    async refuse({ id }: BossJob): Promise<void> {
      await boss.fail(queue, id, { reason: 'No delivery of the inbox.' });
    },

    /** Makes a dead letter of it. False when it is another worker's by now. */
    async bury(
      taken: TakenJob,
      { attempts, reason }: { attempts: number; reason: string },
    ): Promise<boolean> {
      const state = await stateOf(taken);
      // Done already, and the answer was lost.
      if (state === 'completed') return true;
      if (state !== 'active') return false;
      const { id, delivery, receivedAt } = taken;
      const data = { ...writeDelivery(delivery), receivedAt, attempts, reason };
      // In this order nothing is lost where it breaks off: the lease runs out, and it is buried again.
      await send(deadQueue, data, { id, retentionSeconds: tenYearsInSeconds });
      await boss.complete(queue, id, null, { includeQueued: true });
      return true;
    },

    async deadLetters(limit: number): Promise<DeadLetter[]> {
      const jobs = await search(
        deadQueue,
        (
          all,
        ) => `SELECT data || '{"body":""}' AS data, "createdOn", output, "sourceCreatedOn", "sourceRetryCount"
          FROM ${all} AS job WHERE state < 'active' AND NOT blocked
          ORDER BY priority DESC, "createdOn" LIMIT ${limit}`,
      );
      return jobs.map(toBossJob).flatMap(toDeadLetters);
    },

    async replay(digest: string): Promise<boolean> {
      const dead = await findDead(digest);
      for (const job of dead) {
        const delivery = findDelivery(job.data);
        if (delivery === undefined) continue;
        const data = { ...writeDelivery(delivery), receivedAt: noteOf(job).receivedAt.getTime() };
        // However often and by whomever it is replayed, this dead letter becomes one job; and is deleted last.
        await send(queue, data, { ...jobOptions, id: nextUuid(job.id) });
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

/** The delivery of a job that was taken; `undefined` when it holds none. */
export function toTaken(job: BossJob): TakenJob | undefined {
  const delivery = findDelivery(job.data);
  if (delivery === undefined) return undefined;
  const receivedAt = noteOf(job).receivedAt.getTime();
  const timeLimitMs = limitWithin(job.expireInSeconds * 1000);
  return { id: job.id, delivery, attempt: job.retryCount + 1, receivedAt, timeLimitMs };
}

/** The time limit that makes a lease this long. Who stored the job chose it, and may have other options. */
function limitWithin(leaseMs: number): number {
  return leaseMs - Math.min(leaseMs / 2, longestMarginMs);
}

function toDeadLetters(job: BossJob): DeadLetter[] {
  const delivery = findDelivery(job.data);
  if (delivery === undefined) return [];
  const { digest, name } = delivery;
  return [{ digest, name, ...noteOf(job) }];
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

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
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
  return Math.ceil(wholeNumber(name, ms, longestSeconds * 1000) / 1000);
}

function sum(rows: readonly object[]): number {
  return rows.reduce((total, row) => total + Number(membersOf(row).number), 0);
}

/** pg-boss returns all of these when asked for the metadata. */
function toBossJob(job: object): BossJob {
  return job as BossJob;
}
