import { membersOf } from '../stored-delivery.ts';

/** The parts of a pg-boss job, with its metadata, that we use. */
export interface BossJob {
  readonly id: string;
  // A store may return anything, so this is checked where it is read.
  readonly data: unknown;
  readonly state: string;
  readonly priority: number;
  readonly retryCount: number;
  readonly createdOn: Date;
  readonly expireInSeconds: number;
  readonly output: unknown;
  /** Set if pg-boss itself moved the job to the dead letter queue. */
  readonly sourceCreatedOn: Date | null;
  readonly sourceRetryCount: number | null;
}

/** The parts of a new pg-boss job that we use. */
export interface NewBossJob {
  id: string;
  data: object;
  priority?: number;
  retryLimit?: number;
  retryDelay?: number;
  retryBackoff?: boolean;
  retryDelayMax?: number;
  expireInSeconds?: number;
  retentionSeconds: number;
  deleteAfterSeconds?: number;
  groupId?: string;
}

/** The parts of the database of pg-boss that we use. */
export interface BossDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The parts of a pg-boss instance that we use. */
export interface Boss {
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: NewBossJob[], options: { returnId: true }): Promise<string[] | null>;
  fetch(
    name: string,
    options: { batchSize: number; includeMetadata: true; minPriority?: number; maxPriority?: number },
  ): Promise<readonly object[]>;
  complete(
    name: string,
    id: string | string[],
    data: null,
    options: { includeQueued: boolean },
  ): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  findJobs(name: string, options: { db: BossDatabase }): Promise<readonly object[]>;
  deleteJob(name: string, id: string | string[]): Promise<unknown>;
  getDb(): BossDatabase;
}

/** An Error means that only this job was not stored. */
export type InsertResult = 'stored' | 'duplicate' | Error;

/** In one transaction; results in the order of the jobs. A duplicate has the id of an earlier job. */
export async function insertJobs(
  { boss, query }: { readonly boss: Boss; readonly query: QueryJobs },
  queue: string,
  jobs: readonly NewBossJob[],
): Promise<InsertResult[]> {
  const unique = new Map(jobs.map((job) => [job.id, job]));
  // In one order: otherwise two processes with the same jobs would wait for each other's rows.
  const sorted = [...unique.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const stored = new Set(await boss.insert(queue, sorted, { returnId: true }));
  const skipped = [...unique.keys()].filter((id) => !stored.has(id));
  const existing = skipped.length === 0 ? [] : await findIds(query, queue, skipped);
  const known = new Set([...stored, ...existing]);
  return jobs.map(({ id }) => {
    // The first of several with the same id.
    if (stored.delete(id)) return 'stored';
    return known.has(id) ? 'duplicate' : notStored(queue);
  });
}

/** pg-boss also skips what the policy of the queue refuses, and everything if the queue was deleted. */
function notStored(queue: string): Error {
  return new Error(`pg-boss did not store a job in ${queue}: was the queue deleted, or made with a policy?`);
}

async function findIds(query: QueryJobs, queue: string, ids: readonly string[]): Promise<string[]> {
  const byId = (jobs: string) => `SELECT id FROM ${jobs} WHERE name = $1 AND id = ANY($2::uuid[])`;
  return (await query(queue, byId, ids)).map((row) => String(membersOf(row).id));
}

export type WriteSql = (table: string) => string;

/** On the table that holds the jobs of a queue. `$1` is the queue. */
type QueryJobs = (queue: string, write: WriteSql, ...values: unknown[]) => Promise<readonly object[]>;

/**
 * SQL of our own on the job table, which pg-boss documents. Its `findJobs` cannot be narrowed by state or priority,
 * and since 12.38 it returns only the oldest jobs, which would hide the open ones.
 */
export function queryJobs(boss: Boss): { query: QueryJobs; forgetTables(): void } {
  const tables = new Map<string, string>();

  async function tableOf(queue: string): Promise<string> {
    const table = tables.get(queue) ?? (await findTable(boss, queue));
    tables.set(queue, table);
    return table;
  }

  return {
    async query(queue, write, ...values) {
      const sql = write(await tableOf(queue));
      const { rows } = await boss.getDb().executeSql(sql, [queue, ...values]);
      // Sound: a row is an object of columns.
      return rows as object[];
    },
    /** A queue that is made again may have another table. */
    forgetTables: () => tables.clear(),
  };
}

/**
 * pg-boss (read in 12.30) returns the table of a queue (`getQueue`) but never its schema, so both are read from the
 * SQL of its own search, through its documented option `db`. An option of ours could name another pg-boss, whose
 * deliveries would then be handled.
 */
async function findTable(boss: Boss, queue: string): Promise<string> {
  let text = '';
  const executeSql = async (sql: string) => {
    text = sql;
    return { rows: [] };
  };
  await boss.findJobs(queue, { db: { executeSql } });
  const [, table] = /\bFROM\s+((?:"[^"]+"|\w+)\.(?:"[^"]+"|\w+))\s+WHERE\b/.exec(text) ?? [];
  if (table !== undefined) return table;
  throw new Error('The inbox does not know where this version of pg-boss keeps its jobs.');
}
