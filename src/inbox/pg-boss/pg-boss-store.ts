import { createHash } from 'node:crypto';
import { checkInteger } from '../../internal/options.ts';
import { isNewer, refuseNewer } from '../../internal/stored-version.ts';
import type { Handling } from '../handling-options.ts';
import type { DeadLetter, DeadLetterQuery, DeadLetterRead, Delivery, InboxCounts } from '../inbox.ts';
import { toDeadLetter } from '../inbox.ts';
import { findDelivery, handledData, membersOf, readDelivery, writeDelivery } from '../stored-delivery.ts';
import type { Boss, BossJob, NewBossJob } from './pg-boss-job.ts';
import { type InsertResult, insertJobs, queryJobs, type WriteSql } from './pg-boss-job.ts';
import { type BossLease, isolatedPriority, longestMarginMs, noteOf, unknownDataOf } from './pg-boss-lease.ts';

/** Longer than any job waits: pg-boss deletes old ones. */
const tenYearsInSeconds = 10 * 366 * 24 * 60 * 60;
/** The handling process counts attempts: pg-boss would give up silently. */
const never = 1_000_000_000;
/** The largest number that its columns hold. */
const longestSeconds = 2 ** 31 - 1;
const longestLeaseMs = 24 * 60 * 60 * 1000;

/** Two queues in pg-boss: the deliveries, and the dead letters. */
export type PgBossStore = ReturnType<typeof pgBossStore>;

export interface PgBossStoreOptions extends Pick<Handling, 'timeLimitMs' | 'retry' | 'rememberMs'> {
  readonly boss: Boss;
  readonly queue: string;
}

/** @throws {ConfigurationError} `invalid_option` */
export function pgBossStore({ boss, queue, ...handling }: PgBossStoreOptions) {
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
  const { query, forgetTables } = queryJobs(boss);
  let isReady = false;

  /** Makes missing queues. Several calls may run this at the start. */
  async function ready(): Promise<void> {
    if (isReady) return;
    await boss.createQueue(deadQueue, { retentionSeconds: tenYearsInSeconds });
    await boss.createQueue(queue, { retentionSeconds: tenYearsInSeconds, deadLetter: deadQueue });
    isReady = true;
  }

  async function insert(name: string, jobs: readonly NewBossJob[]): Promise<InsertResult[]> {
    try {
      const results = await insertJobs({ boss, query }, name, jobs);
      if (results.some((result) => result instanceof Error)) lookAgain();
      return results;
    } catch (error) {
      lookAgain();
      throw error;
    }
  }

  /** Without its queue pg-boss rejects or stores nothing, depending on its version. */
  function lookAgain(): void {
    isReady = false;
    forgetTables();
  }

  async function insertOne(name: string, job: NewBossJob): Promise<void> {
    const [result] = await insert(name, [job]);
    if (result instanceof Error) throw result;
  }

  async function search(name: string, write: WriteSql, ...values: unknown[]): Promise<readonly object[]> {
    await ready();
    return await query(name, write, ...values);
  }

  async function findDead(digest: string): Promise<BossJob[]> {
    const ofDigest = (jobs: string) => `${selectDead(jobs, 'data')} AND data ->> 'digest' = $2`;
    return (await search(deadQueue, ofDigest, digest)).map(toBossJob);
  }

  /** The state of this lease's job; `undefined` if the lease expired and another worker has it. */
  async function stateOf({ id, retryCount }: BossLease): Promise<unknown> {
    const ofLease = (jobs: string) =>
      `SELECT state FROM ${jobs} WHERE name = $1 AND id = $2::uuid AND retry_count = $3::int`;
    const [job] = await search(queue, ofLease, id, retryCount);
    return membersOf(job).state;
  }

  /** False if another worker has it by now. */
  async function replace(lease: BossLease, insertOther: () => Promise<unknown>): Promise<boolean> {
    const state = await stateOf(lease);
    // It was done before, but the answer was lost.
    if (state === 'completed') return true;
    if (state !== 'active') return false;
    // If this is interrupted, the lease expires and the job is replaced again.
    await insertOther();
    await end([lease.id]);
    return true;
  }

  /**
   * Completes jobs, which then hold only their ids. Their bodies go first: if that is interrupted, the jobs are
   * leased again without a body, and completed.
   */
  async function end(ids: readonly string[]): Promise<void> {
    const forget = (jobs: string) =>
      `UPDATE ${jobs} SET data = $2::jsonb WHERE name = $1 AND id = ANY($3::uuid[])`;
    await search(queue, forget, JSON.stringify(handledData), ids);
    await boss.complete(queue, [...ids], null, { includeQueued: true });
  }

  return {
    leaseMs: leaseSeconds * 1000,

    /** In one transaction; results in the order of the deliveries. */
    async insert(deliveries: readonly Delivery[]): Promise<InsertResult[]> {
      await ready();
      return await insert(queue, deliveries.map(toNewJob));
    },

    async lease(limit: number): Promise<BossJob[]> {
      await ready();
      const options = { batchSize: limit, includeMetadata: true, minPriority: isolatedPriority + 1 } as const;
      return (await boss.fetch(queue, options)).map(toBossJob);
    },

    async isIsolatedDue(): Promise<boolean> {
      const due = (jobs: string) =>
        `SELECT 1 FROM ${jobs} WHERE ${isWaiting} AND priority <= ${isolatedPriority} AND start_after <= now() LIMIT 1`;
      return (await search(queue, due)).length > 0;
    },

    async leaseIsolated(): Promise<BossJob[]> {
      await ready();
      const options = { batchSize: 1, includeMetadata: true, maxPriority: isolatedPriority } as const;
      return (await boss.fetch(queue, options)).map(toBossJob);
    },

    /** In one transaction. A digest is remembered even if another worker has its job by now. */
    async complete(leases: readonly BossLease[]): Promise<undefined[]> {
      await end(leases.map(({ id }) => id));
      return leases.map(() => undefined);
    },

    /** Schedules another attempt, unless another worker has it by now. */
    async postpone(lease: BossLease, reason: string): Promise<void> {
      if ((await stateOf(lease)) === 'active') await boss.fail(queue, lease.id, { reason });
    },

    /**
     * Makes it due again, unless another worker has it by now. pg-boss counts leases, so the attempt that this was not
     * is taken off in the data.
     */
    async putBack({ id, retryCount, attempt }: BossLease, delayMs: number): Promise<void> {
      const undo = (jobs: string) =>
        `UPDATE ${jobs} SET state = 'retry', start_after = now() + $4::float8 * interval '1 ms',
          data = data || $5::jsonb, output = $6::jsonb
        WHERE name = $1 AND id = $2::uuid AND retry_count = $3::int AND state = 'active'`;
      const data = JSON.stringify({ attempts: attempt - retryCount - 2 });
      // A lease without a reason counts as lost.
      const output = JSON.stringify({ reason: 'No handler.' });
      await search(queue, undo, id, retryCount, delayMs, data, output);
    },

    /** As if it had not been fetched, but due later: pg-boss counts the leases of a job that was started before. */
    async undoLease({ id, retryCount }: BossJob, delayMs: number): Promise<void> {
      const undo = (jobs: string) =>
        `UPDATE ${jobs} SET state = 'retry', start_after = now() + $4::float8 * interval '1 ms',
          retry_count = greatest(retry_count - 1, 0), started_on = CASE WHEN retry_count > 0 THEN started_on END
        WHERE name = $1 AND id = $2::uuid AND retry_count = $3::int AND state = 'active'`;
      await search(queue, undo, id, retryCount, delayMs);
    },

    /** If another program stored the job, it fails, and its own options decide about retries. */
    async failForeignJob({ id, data }: BossJob): Promise<void> {
      if (isHandled(data)) await end([id]);
      else await boss.fail(queue, id, { reason: 'No delivery of the inbox.' });
    },

    /**
     * From now on the job is tried alone. The priority of a leased job cannot change, so another job replaces it, and
     * this one only remembers its digest.
     */
    isolate(lease: BossLease): Promise<boolean> {
      const { id, kept, delivery, receivedAt, attempt } = lease;
      // The failed attempts: neither this one nor the last one, whose lease was lost, counts.
      const data = { ...kept, ...writeDelivery(delivery), receivedAt, attempts: attempt - 2 };
      const job = { ...jobOptions, id: nextUuid(id), priority: isolatedPriority, data };
      return replace(lease, () => insertOne(queue, job));
    },

    /** False if another worker has it by now. */
    moveToDeadLetters(lease: BossLease, reason: string): Promise<boolean> {
      const { id, kept, delivery, receivedAt, attempt: attempts, isolated: alone } = lease;
      const data = { ...kept, ...writeDelivery(delivery), receivedAt, attempts, reason, alone };
      const job = { id, retentionSeconds: tenYearsInSeconds, data };
      return replace(lease, () => insertOne(deadQueue, job));
    },

    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const data = withBody ? 'data' : `data || '{"body":""}' AS data`;
      const oldest = (jobs: string) =>
        `${selectDead(jobs, data)} ORDER BY priority DESC, created_on LIMIT ${limit}`;
      const jobs = (await search(deadQueue, oldest)).map(toBossJob);
      const readable = jobs.filter(({ data }) => !isNewer(data));
      return readable.flatMap((job) => readDeadLetter(job, { withBody }) ?? []);
    },

    async deadLetter(digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined> {
      const [job] = await findDead(digest);
      return job && readDeadLetter(job, read);
    },

    async replay(digest: string): Promise<boolean> {
      const dead = await findDead(digest);
      for (const job of dead) {
        const delivery = findDelivery(job.data);
        if (delivery === undefined) continue;
        const receivedAt = noteOf(job).receivedAt.getTime();
        const data = { ...unknownDataOf(job), ...writeDelivery(delivery), receivedAt };
        // Concurrent replays make one job, since its id is fixed. The dead letter is deleted last.
        const priority = membersOf(job.data).alone === true ? isolatedPriority : 0;
        await insertOne(queue, { ...jobOptions, id: nextUuid(job.id), priority, data });
        await boss.deleteJob(deadQueue, job.id);
      }
      return dead.length > 0;
    },

    async discard(digest: string): Promise<boolean> {
      const ids = (await findDead(digest)).map((job) => {
        refuseNewer(job.data, 'The dead letter');
        return job.id;
      });
      if (ids.length > 0) await boss.deleteJob(deadQueue, ids);
      return ids.length > 0;
    },

    /** From the same indexes as the counts. In milliseconds since the epoch. */
    async oldestCreatedAt(): Promise<number | undefined> {
      const oldest = (jobs: string) =>
        `SELECT extract(epoch FROM min(created_on)) * 1000 AS at FROM ${jobs}
        WHERE (${isWaiting}) OR (name = $1 AND state = 'active' AND group_id IS NOT NULL)`;
      const [row] = await search(queue, oldest);
      const { at } = membersOf(row);
      return at === null || at === undefined ? undefined : Number(at);
    },

    /** Both counts come from indexes, however much is remembered. */
    async counts(): Promise<InboxCounts> {
      const waiting = (jobs: string) => `SELECT count(*) AS number FROM ${jobs} WHERE ${isWaiting}`;
      const active = (jobs: string) =>
        `SELECT count(*) AS number FROM ${jobs} WHERE name = $1 AND state = 'active' AND group_id IS NOT NULL`;
      const [open, dead] = await Promise.all([
        search(queue, (jobs) => `${waiting(jobs)} UNION ALL ${active(jobs)}`),
        search(deadQueue, waiting),
      ]);
      return { open: sum(open), dead: sum(dead) };
    },
  };
}

/** As in the index of pg-boss's `fetch`, so that what was handled is not read. */
export const isWaiting = `name = $1 AND state < 'active' AND NOT blocked`;

/** Dead letters, with what we use of them. Where pg-boss moved a job, 12.38 keeps its output in a column of its own. */
function selectDead(jobs: string, data: string): string {
  return `SELECT id, ${data}, created_on AS "createdOn",
    source_created_on AS "sourceCreatedOn", source_retry_count AS "sourceRetryCount",
    CASE WHEN source_id IS NULL THEN output ELSE coalesce(output, to_jsonb(job) -> 'source_output') END AS output
    FROM ${jobs} AS job WHERE ${isWaiting}`;
}

/** `undefined` if the job holds no delivery. */
function readDeadLetter(job: BossJob, read: DeadLetterRead): DeadLetter | undefined {
  const delivery = findDelivery(job.data);
  return delivery && toDeadLetter(delivery, noteOf(job), read);
}

/** Its completion was interrupted. */
function isHandled(data: unknown): boolean {
  try {
    return readDelivery(data) === 'handled';
  } catch {
    return false;
  }
}

/** 128 of the 256 bits: enough that no two deliveries share them. */
export function toUuid(digest: string): string {
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
