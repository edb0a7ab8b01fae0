import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BullJob, BullWorker, BullWorkerOptions } from '../../../src/inbox/bullmq/bullmq-job.ts';
import { startBullmqWorker } from '../../../src/inbox/bullmq/bullmq-worker.ts';
import type { HandlingOptions } from '../../../src/inbox/handling-options.ts';
import type { HandleOptions, HandleResult } from '../../../src/inbox/inbox.ts';
import { handledData, writeDelivery } from '../../../src/inbox/stored-delivery.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { rejected } from '../../support/refusal.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { readHandling } from '../contract.ts';

const at = 1_800_000_000_000;
const delivery = { digest: 'ab'.repeat(32), name: 'x', key: { index: 0 }, body: '{}' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A job as BullMQ gives it to its worker, and what the worker does with it. */
function jobOf(members: Partial<BullJob> = {}) {
  const steps: unknown[][] = [];
  const note =
    <Result>(name: string, result: Result) =>
    async (...given: unknown[]): Promise<Result> => {
      steps.push([name, ...given]);
      return result;
    };
  let data: unknown = writeDelivery(delivery);
  const job: BullJob = {
    ...{ id: '1', name: 'x', timestamp: at, attemptsMade: 0, stalledCounter: 0, token: 'token' },
    data,
    extendLock: note('extendLock', 1),
    moveToWait: note('moveToWait', undefined),
    moveToDelayed: note('moveToDelayed', undefined),
    retry: note('retry', undefined),
    isFailed: async () => false,
    ...members,
    async updateData(changed) {
      data = changed;
    },
  };
  if ('data' in members) data = members.data;
  return { job: Object.defineProperty(job, 'data', { get: () => data }), steps };
}

type Handle = (options: HandleOptions) => Promise<HandleResult>;
const fail: Handle = () => Promise.reject(new Error('no'));

/** A worker whose jobs the test gives to it, once it is made. */
async function start(
  handle: Handle,
  options: HandlingOptions = {},
  { remember = async () => {}, ...others }: Partial<BullWorker & { remember: () => Promise<void> }> = {},
) {
  const reports: unknown[] = [];
  const errors: unknown[] = [];
  const calls: string[] = [];
  const made = Promise.withResolvers<{
    process: (job: BullJob) => Promise<void>;
    workerOptions: BullWorkerOptions;
  }>();
  const listeners: Record<string, (...given: unknown[]) => void> = {};
  const bull: BullWorker = {
    concurrency: 10,
    waitUntilReady: async () => void calls.push('waitUntilReady'),
    close: async () => void calls.push('close'),
    disconnect: async () => void calls.push('disconnect'),
    on: (event: string, listener: (...given: never[]) => void) => {
      Object.assign(listeners, { [event]: listener });
    },
    ...others,
  };
  const given: HandlingOptions = {
    now: () => at,
    random: (size) => new Uint8Array(size),
    onStoreError: (error) => errors.push(error),
    ...options,
  };
  const worker = startBullmqWorker(
    (process, workerOptions) => {
      made.resolve({ process, workerOptions });
      return bull;
    },
    {
      host: {
        hasHandlers: true,
        handle: (_, handleOptions = {}) => handle(handleOptions),
        report: (_, result) => reports.push(result),
      },
      handling: readHandling(given),
      remember,
    },
  );
  return { worker, bull, reports, errors, calls, listeners, ...(await made.promise) };
}

describe('the BullMQ worker', () => {
  it('is made with a lock of at most 30 seconds, and never gives up by itself', async () => {
    const { workerOptions } = await start(fail, { concurrency: 3, timeLimitMs: 40_000 });
    expect(workerOptions).toMatchObject({
      concurrency: 3,
      lockDuration: 30_000,
      stalledInterval: 30_000,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    const { backoffStrategy } = workerOptions.settings;
    expect([1, 2, 3, 20].map(backoffStrategy)).toEqual([1_000, 2_000, 4_000, 600_000]);
    const shorter = await start(fail, { timeLimitMs: 400 });
    expect(shorter.workerOptions).toMatchObject({ lockDuration: 400, stalledInterval: 400 });
  });

  it('handles a delivery, with the number of the attempt, and reports it', async () => {
    const attempts: unknown[] = [];
    const { process, reports } = await start(async ({ attempt }) => {
      attempts.push(attempt);
      return 'handled';
    });
    const { job, steps } = jobOf({ attemptsMade: 2, timestamp: at - 500 });
    await process(job);
    expect(attempts).toEqual([3]);
    expect(reports).toMatchObject([{ outcome: 'handled', attempt: 3, waitedMs: 500 }]);
    expect(steps).toEqual([]);
  });

  it('has no handler for what was discarded', async () => {
    const { process, reports } = await start(fail);
    await process(jobOf({ data: handledData }).job);
    expect(reports).toEqual([]);
  });

  it('fails a job with its reason, and reports it once Redis has stored the failure', async () => {
    const { process, reports, listeners } = await start(fail);
    const { job } = jobOf({ attemptsMade: 1 });
    const error = await rejected(process(job));
    expect(error).toMatchObject({ name: 'Error', message: 'Error: no' });
    expect([job.data, reports]).toEqual([delivery, []]);
    listeners.failed?.(job, error);
    expect(reports).toMatchObject([{ outcome: 'failed', attempt: 2, error: { message: 'no' } }]);
  });

  it('makes a dead letter of the last attempt, with the reason in its data', async () => {
    const { process, reports, listeners } = await start(fail, { maxAttempts: 2 });
    const { job } = jobOf({ attemptsMade: 1 });
    const error = await rejected(process(job));
    expect(error).toMatchObject({
      name: 'UnrecoverableError',
      message: 'It is a dead letter: its data has the reason.',
    });
    expect(job.data).toEqual({ ...delivery, reason: 'Error: no' });
    listeners.failed?.({ ...job, finishedOn: at }, error);
    expect(reports).toMatchObject([{ outcome: 'dead', attempt: 2, error: { message: 'no' } }]);
  });

  it('reports a failure that BullMQ found by itself, and none of what is no delivery of this version', async () => {
    const { reports, listeners } = await start(fail);
    const error = new Error('job stalled');
    listeners.failed?.(undefined, error);
    listeners.failed?.(jobOf({ data: { foreign: true } }).job, error);
    listeners.failed?.(jobOf({ data: { ...writeDelivery(delivery), version: 2 } }).job, error);
    expect(reports).toEqual([]);
    listeners.failed?.(jobOf({ attemptsMade: 4 }).job, error);
    expect(reports).toEqual([{ outcome: 'failed', attempt: 4, error }]);
  });

  it('puts a delivery back that no handler wants yet, which is no attempt', async () => {
    const { process, reports } = await start(async () => 'no-handler');
    const { job, steps } = jobOf({ timestamp: at - 10_000 });
    expect(await rejected(process(job))).toMatchObject({ name: 'DelayedError' });
    expect(steps).toEqual([['moveToDelayed', at + 5_000, 'token']]);
    expect(reports).toEqual([]);
  });

  it('leaves to another process what a newer version has stored, and says so', async () => {
    const { process, errors } = await start(fail);
    const { job, steps } = jobOf({ data: { ...writeDelivery(delivery), version: 2 } });
    expect(await rejected(process(job))).toMatchObject({ name: 'DelayedError' });
    expect(steps).toEqual([['moveToDelayed', at + 10_000, 'token']]);
    expect(errors).toMatchObject([
      { code: 'newer_format', message: expect.stringContaining('A stored delivery is in the form') },
    ]);
  });

  it('says once a second that Redis fails, and each time that a digest is not remembered', async () => {
    let time = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => time);
    const { errors, listeners } = await start(
      fail,
      {},
      { remember: () => Promise.reject(new Error('full')) },
    );
    for (time of [0, 999, 1_000, 1_500]) listeners.error?.(new Error(`at ${time}`));
    vi.restoreAllMocks();
    expect(errors).toMatchObject([{ message: 'at 0' }, { message: 'at 1000' }]);
    for (let count = 0; count < 2; count++) listeners.completed?.(jobOf().job);
    await nextTurn();
    expect(errors.slice(2)).toMatchObject([{ message: 'full' }, { message: 'full' }]);
  });
});

describe('a delivery that lost its lock', () => {
  it('waits until all others have ended, and runs alone', async () => {
    const [first, alone] = [gate(), gate()];
    const ends = [first, alone];
    const begun: number[] = [];
    const { process, bull } = await start(async ({ attempt = 0 }) => {
      begun.push(attempt);
      await ends[begun.length - 1]?.opened;
      return 'handled';
    });
    const others = process(jobOf({ attemptsMade: 4 }).job);
    const lost = jobOf({ stalledCounter: 1 });
    const isolated = process(lost.job);
    await nextTurn();
    expect([begun, bull.concurrency]).toEqual([[5], 1]);
    // It was fetched before the worker was paused.
    const fetched = jobOf();
    expect(await rejected(process(fetched.job))).toMatchObject({ name: 'WaitingError' });
    expect(fetched.steps).toEqual([['moveToWait', 'token']]);
    first.open();
    await others;
    await nextTurn();
    // Stored before the handler begins: it may end the process.
    expect(lost.job.data).toEqual({ ...delivery, alone: { attempt: 1, dead: false } });
    expect([begun, lost.steps]).toEqual([[5, 1], [['extendLock', 'token', 30_000]]]);
    alone.open();
    await isolated;
    expect(bull.concurrency).toBe(10);
    await process(jobOf().job);
    expect(begun).toEqual([5, 1, 1]);
  });

  it('is left to the worker that has it by now', async () => {
    const { process, bull } = await start(fail);
    const { job } = jobOf({ stalledCounter: 1, extendLock: async () => 0 });
    expect(await rejected(process(job))).toMatchObject({
      name: 'WaitingError',
      message: 'It is tried later.',
    });
    expect([job.data, bull.concurrency]).toEqual([delivery, 10]);
  });

  it.each([
    ['goes on counting from the attempts that ended', 3, undefined, 4],
    ['goes on counting from those that it had alone', 9, { attempt: 2, dead: false }, 3],
    ['has all its attempts again once it was replayed', 9, { attempt: 4, dead: true }, 1],
  ])('%s', async (_, attemptsMade, alone, expected) => {
    const { process } = await start(fail, { maxAttempts: 5 });
    const { job } = jobOf({ stalledCounter: 1, attemptsMade, data: { ...delivery, alone } });
    expect(await rejected(process(job))).toMatchObject({ name: 'Error' });
    expect(job.data).toMatchObject({ alone: { attempt: expected, dead: false } });
  });

  it('is a dead letter when its last attempt fails', async () => {
    const { process, reports, listeners } = await start(fail, { maxAttempts: 3 });
    const { job } = jobOf({ stalledCounter: 1, data: { ...delivery, alone: { attempt: 2, dead: false } } });
    const error = await rejected(process(job));
    expect(error).toMatchObject({ name: 'UnrecoverableError' });
    expect(job.data).toEqual({ ...delivery, alone: { attempt: 3, dead: true }, reason: 'Error: no' });
    listeners.failed?.(Object.create(job, { finishedOn: { value: at } }), error);
    expect(reports).toMatchObject([{ outcome: 'dead', attempt: 3 }]);
  });

  it('is a dead letter without a further handler when it has ended its process for the last time', async () => {
    let handled = 0;
    const { process, reports, listeners } = await start(
      async () => {
        handled++;
        return 'handled';
      },
      { maxAttempts: 3 },
    );
    const { job } = jobOf({ stalledCounter: 4, data: { ...delivery, alone: { attempt: 3, dead: false } } });
    const error = await rejected(process(job));
    expect(error).toMatchObject({ name: 'UnrecoverableError' });
    expect(job.data).toMatchObject({
      alone: { attempt: 3, dead: true },
      reason: expect.stringContaining('lease_lost'),
    });
    listeners.failed?.(Object.create(job, { finishedOn: { value: at } }), error);
    expect(reports).toMatchObject([{ outcome: 'dead', attempt: 3, error: { code: 'lease_lost' } }]);
    expect(handled).toBe(0);
  });
});

describe('the stop of the BullMQ worker', () => {
  it('is drained once the worker is closed and all digests are remembered', async () => {
    const remembered = gate();
    const { worker, listeners, calls } = await start(fail, {}, { remember: () => remembered.opened });
    listeners.completed?.(jobOf().job);
    let result: string | undefined;
    const stopped = worker.stop(5_000).then((end) => {
      result = end;
    });
    await nextTurn();
    expect([calls, result]).toEqual([['waitUntilReady', 'close'], undefined]);
    remembered.open();
    await stopped;
    expect([calls, result]).toEqual([['waitUntilReady', 'close'], 'drained']);
  });

  it('aborts handlers past its time, so that their jobs fail and are tried again', async () => {
    const aborted = gate();
    const { worker, process, calls } = await start(
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      { maxAttempts: 1 },
      { close: () => aborted.opened },
    );
    const failed = rejected(process(jobOf().job)).finally(aborted.open);
    expect(await worker.stop(5)).toBe('cut-off');
    // A stop makes no dead letter.
    expect(await failed).toMatchObject({ name: 'Error', message: expect.stringContaining('inbox_stopped') });
    expect(calls).toEqual(['waitUntilReady']);
  });

  it('gives back a delivery that waits to run alone', async () => {
    const running = gate();
    const { worker, process } = await start(async () => {
      await running.opened;
      return 'handled';
    });
    const other = process(jobOf().job);
    const lost = jobOf({ stalledCounter: 1 });
    const waiting = rejected(process(lost.job));
    expect(await worker.stop(5_000)).toBe('drained');
    expect(await waiting).toMatchObject({ name: 'WaitingError' });
    expect(lost.steps).toEqual([['moveToWait', 'token']]);
    running.open();
    await other;
  });

  it('says that the worker could not be closed', async () => {
    const { worker, errors } = await start(fail, {}, { close: () => Promise.reject(new Error('gone')) });
    await worker.stop(5_000);
    expect(errors).toMatchObject([{ message: 'gone' }]);
  });

  it('closes a worker that does not connect, and disconnects one that does not close', async () => {
    const never = () => new Promise<never>(() => {});
    const { worker, calls } = await start(fail, {}, { waitUntilReady: never });
    const stubborn = await start(fail, {}, { close: never });
    vi.useFakeTimers();
    const stopped = Promise.all([worker.stop(5), stubborn.worker.stop(5)]);
    await vi.advanceTimersByTimeAsync(5);
    expect([calls, stubborn.calls]).toEqual([['close'], ['waitUntilReady']]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await stopped).toEqual(['drained', 'cut-off']);
    expect(stubborn.calls).toEqual(['waitUntilReady', 'disconnect']);
  });
});

describe('the start of the BullMQ worker', () => {
  /** A process that may have no handler yet. */
  function begin(hasHandlers: boolean, make: () => undefined = () => undefined) {
    vi.useFakeTimers();
    const errors: unknown[] = [];
    let made = 0;
    const host = { hasHandlers, handle: async () => 'handled' as const, report: () => {} };
    const worker = startBullmqWorker(
      () => {
        made++;
        return make();
      },
      {
        host,
        handling: readHandling({ onStoreError: (error: unknown) => errors.push(error) }),
        remember: async () => {},
      },
    );
    return { host, worker, errors, made: () => made };
  }

  it('waits for the first handler', async () => {
    const { host, made, errors } = begin(false);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(made()).toBe(0);
    host.hasHandlers = true;
    await vi.advanceTimersByTimeAsync(100);
    expect([made(), errors]).toEqual([1, []]);
  });

  it('never comes once the inbox has stopped', async () => {
    for (const hasHandlers of [true, false]) {
      const { worker, made, errors } = begin(hasHandlers);
      expect(await worker.stop(5)).toBe('drained');
      await vi.advanceTimersByTimeAsync(10_000);
      expect([made(), errors]).toEqual([0, []]);
    }
  });

  it('is reported where no worker can be made', async () => {
    const { errors } = begin(true, () => {
      throw new Error('no Redis');
    });
    await vi.advanceTimersByTimeAsync(1);
    expect(errors).toMatchObject([{ message: 'no Redis' }]);
  });
});
