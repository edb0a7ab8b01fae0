/** The parts of a pg-boss job, with its metadata, that are used. */
export interface BossJob {
  readonly id: string;
  // What is in a store may be anything: it is checked where it is read.
  readonly data: unknown;
  readonly retryCount: number;
  readonly createdOn: Date;
  readonly output: unknown;
  readonly sourceId: string | null;
  readonly sourceCreatedOn: Date | null;
  readonly sourceRetryCount: number | null;
}

/** How a delivery is stored. */
export interface BossJobOptions {
  id: string;
  retryLimit: number;
  retryDelay: number;
  retryBackoff: boolean;
  retryDelayMax: number;
  expireInSeconds: number;
  retentionSeconds: number;
  deleteAfterSeconds: number;
  deadLetter: string;
}

/** The parts of a pg-boss instance that are used. */
export interface Boss {
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: object, options: BossJobOptions): Promise<string | null>;
  fetch(name: string, options: { batchSize: number; includeMetadata: true }): Promise<readonly object[]>;
  complete(name: string, id: string, data: null, options: { includeQueued: boolean }): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  findJobs(name: string, options: { queued?: boolean; data?: object }): Promise<readonly object[]>;
  deleteJob(name: string, id: string): Promise<unknown>;
  getQueueStats(
    name: string,
    options: { force: boolean },
  ): Promise<readonly { readonly queuedCount: number; readonly activeCount: number }[]>;
}
