import { InboxError } from '../../errors/inbox-error.ts';
import type { Delivery, InboxHost } from '../../webhooks/inbox.ts';
import { longestTimerMs } from '../../webhooks/time-limit.ts';
import type { Taken } from '../attempt.ts';
import { describeError } from '../describe-error.ts';
import { checkHandling, type HandlingOptions, invalid, wholeNumber } from '../handling-options.ts';
import type { ManagedInbox } from '../managed-inbox.ts';
import { type Sleep, sleepFor } from '../sleep.ts';
import { storeGate } from '../store-gate.ts';
import { readDelivery, writeDelivery } from '../stored-delivery.ts';
import { startWorker, type Worker, type WorkSource } from '../worker.ts';
import type { Boss, BossJob, BossJobOptions } from './pg-boss-types.ts';

/** The waits of pg-boss are whole seconds: `retryFirstMs`, `retryMaxMs` and the lease are rounded up. */
export interface PgBossInboxOptions extends Omit<HandlingOptions, 'random'> {
  /** A started pg-boss. Stopping it is yours, after the inbox. */
  boss: Boss;
  /** The name of the queue, made when there is none; the dead letters are in `<queue>_dead`. @default 'partner_inbox' */
  queue?: string | undefined;
  /** Milliseconds between two looks for what is due. @default 500 */
  pollMs?: number | undefined;
  /** Milliseconds to wait for PostgreSQL before a delivery is answered 503. @default 5000 */
  storeTimeoutMs?: number | undefined;
  /** How many deliveries may wait for PostgreSQL before further ones are answered 503 at once. @default 1000 */
  maxPending?: number | undefined;
  /** Resolves after so many milliseconds, or at once when the signal is aborted. @default setTimeout */
  sleep?: Sleep | undefined;
}

interface TakenJob extends Taken {
  readonly id: string;
}

const defaults = Object.freeze({
  queue: 'partner_inbox',
  pollMs: 500,
  storeTimeoutMs: 5_000,
  maxPending: 1_000,
  stopTimeoutMs: 10_000,
});

/** What is not handled is never deleted for its age; pg-boss wants a number. */
const tenYearsInSeconds = 10 * 366 * 24 * 60 * 60;

/**
 * A durable inbox on a pg-boss of yours. A delivery is a job whose id is made of its digest: as long as the job is
 * kept, its repetitions are duplicates. A handled job is kept for `rememberMs`.
 *
 * All times are those of the database: the clocks of the machines do not matter.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
export function pgBossInbox(options: PgBossInboxOptions): ManagedInbox {
  const handling = checkHandling(options);
  const { handles, maxAttempts, timeLimitMs } = handling;
  const { boss } = options;
  if (typeof boss?.send !== 'function') throw invalid('pgBossInbox needs a pg-boss instance.');
  const queue = options.queue ?? defaults.queue;
  if (typeof queue !== 'string' || queue === '') throw invalid('queue must be a name.');
  const deadQueue = `${queue}_dead`;
  const pollMs = wholeNumber('pollMs', options.pollMs ?? defaults.pollMs, longestTimerMs);
  const timeoutMs = wholeNumber(
    'storeTimeoutMs',
    options.storeTimeoutMs ?? defaults.storeTimeoutMs,
    longestTimerMs,
  );
  const ask = storeGate({
    timeoutMs,
    maxPending: wholeNumber('maxPending', options.maxPending ?? defaults.maxPending),
  });
  const sleep = options.sleep ?? sleepFor;
  const jobOptions: Omit<BossJobOptions, 'id'> = {
    retryLimit: maxAttempts - 1,
    retryDelay: seconds(handling.retryFirstMs),
    retryBackoff: true,
    retryDelayMax: seconds(handling.retryMaxMs),
    // The time limit comes first, with room to write down that it was reached.
    expireInSeconds: seconds(timeLimitMs + Math.min(timeLimitMs, 5_000)),
    retentionSeconds: tenYearsInSeconds,
    deleteAfterSeconds: seconds(handling.rememberMs),
    deadLetter: deadQueue,
  };
  let host: InboxHost | undefined;
  let worker: Worker | undefined;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;
  let queues: Promise<void> | undefined;

  /** Both queues are there. Tried again when it failed. */
  function ready(): Promise<void> {
    queues ??= (async () => {
      await boss.createQueue(deadQueue, { retentionSeconds: tenYearsInSeconds });
      await boss.createQueue(queue, { retentionSeconds: tenYearsInSeconds, deadLetter: deadQueue });
    })().catch((error) => {
      queues = undefined;
      throw error;
    });
    return queues;
  }

  const source: WorkSource<TakenJob> = {
    async take(limit) {
      const jobs = await ask(async () => {
        await ready();
        return await boss.fetch(queue, { batchSize: limit, includeMetadata: true });
      });
      const taken: TakenJob[] = [];
      for (const job of jobs.map(toBossJob)) {
        const delivery = tryReadDelivery(job);
        if (delivery !== undefined) {
          const receivedAt = job.createdOn.getTime();
          taken.push({ id: job.id, delivery, attempt: job.retryCount + 1, receivedAt });
        } else await ask(() => boss.fail(queue, job.id, { reason: 'No delivery of the inbox.' }));
      }
      return { taken, pauseMs: jobs.length === limit ? 0 : Number.POSITIVE_INFINITY };
    },
    async settle({ id }, { fate, error }) {
      // pg-boss counts the attempts, waits, and moves what is dead.
      if (fate === 'handled') await ask(() => boss.complete(queue, id, null, { includeQueued: true }));
      else await ask(() => boss.fail(queue, id, { reason: describeError(error) }));
    },
    async release(left) {
      for (const { id } of left) await ask(() => boss.fail(queue, id, { reason: 'Cut off by a stop.' }));
    },
  };

  function store(delivery: Delivery): Promise<string | null> {
    return boss.send(queue, writeDelivery(delivery), { ...jobOptions, id: toUuid(delivery.digest) });
  }

  async function findDead(digest: string): Promise<BossJob | undefined> {
    await ready();
    const [job] = await boss.findJobs(deadQueue, { queued: true, data: { digest } });
    return job === undefined ? undefined : toBossJob(job);
  }

  return {
    handles,
    attach(given) {
      if (host !== undefined) throw invalid('An inbox belongs to one createWebhooks: make another one.');
      host = given;
      if (handles === 'here') worker = startWorker(source, { host: given, handling, pollMs, sleep });
    },
    async receive(delivery) {
      if (stopping !== undefined) throw new InboxError('inbox_stopped', 'The inbox was stopped.');
      const id = await ask(async () => {
        await ready();
        return await store(delivery);
      });
      if (id === null) return 'duplicate';
      worker?.wake();
      return 'stored';
    },
    async deadLetters({ limit = 100 } = {}) {
      const jobs = await ask(async () => {
        await ready();
        return await boss.findJobs(deadQueue, { queued: true });
      });
      const letters = jobs.map(toBossJob).flatMap((job) => {
        const delivery = tryReadDelivery(job);
        if (delivery === undefined) return [];
        const { digest, name } = delivery;
        const attempts = (job.sourceRetryCount ?? maxAttempts - 1) + 1;
        return [
          { digest, name, attempts, receivedAt: job.sourceCreatedOn ?? job.createdOn, reason: reasonOf(job) },
        ];
      });
      return letters.sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime()).slice(0, limit);
    },
    async replay(digest) {
      const found = await ask(async () => {
        const dead = await findDead(digest);
        const delivery = dead === undefined ? undefined : tryReadDelivery(dead);
        if (dead === undefined || delivery === undefined) return false;
        // In this order nothing is lost where it breaks off: the dead letter goes last.
        await boss.deleteJob(queue, toUuid(digest));
        await store(delivery);
        await boss.deleteJob(deadQueue, dead.id);
        return true;
      });
      worker?.wake();
      return found;
    },
    discard: (digest) =>
      ask(async () => {
        const dead = await findDead(digest);
        if (dead !== undefined) await boss.deleteJob(deadQueue, dead.id);
        return dead !== undefined;
      }),
    async counts() {
      const [open, dead] = await ask(async () => {
        await ready();
        return await Promise.all([queue, deadQueue].map((name) => boss.getQueueStats(name, { force: true })));
      });
      const sum = (stats: Awaited<ReturnType<Boss['getQueueStats']>> | undefined) => {
        const latest = stats?.at(-1);
        return latest === undefined ? 0 : latest.queuedCount + latest.activeCount;
      };
      return { open: sum(open), dead: sum(dead) };
    },
    stop({ timeoutMs: stopTimeoutMs = defaults.stopTimeoutMs } = {}) {
      stopping ??= worker?.stop(stopTimeoutMs) ?? Promise.resolve('drained');
      return stopping;
    },
  };
}

/** 128 of the 256 bits: enough that no two deliveries share them. */
function toUuid(digest: string): string {
  const part = (from: number, to: number) => digest.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** pg-boss returns all of these when asked for the metadata. */
function toBossJob(job: object): BossJob {
  return job as BossJob;
}

function tryReadDelivery({ data }: BossJob): Delivery | undefined {
  try {
    const delivery = readDelivery(data);
    return delivery === 'handled' ? undefined : delivery;
  } catch {
    return undefined;
  }
}

function reasonOf({ output }: BossJob): string {
  if (typeof output !== 'object' || output === null) return '';
  const { reason, message } = { reason: undefined, message: undefined, ...output };
  return String(reason ?? message ?? '').slice(0, 500);
}
