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

/** A job to be stored. */
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

/** Runs the SQL of pg-boss. */
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
  findJobs(
    name: string,
    options: { id?: string; queued?: boolean; data?: object; db?: BossDatabase },
  ): Promise<readonly object[]>;
  deleteJob(name: string, id: string | string[]): Promise<unknown>;
  getDb(): BossDatabase;
}
