import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bullmqInbox } from '../../../src/inbox/bullmq/bullmq-inbox.ts';
import type { BullJob, BullQueue } from '../../../src/inbox/bullmq/bullmq-job.ts';
import type { InboxHost } from '../../../src/inbox/inbox.ts';
import { handledData, writeDelivery } from '../../../src/inbox/stored-delivery.ts';
import { nextTurn } from '../../support/next-turn.ts';

const digest = 'ab'.repeat(32);
const delivery = { digest, name: 'x', key: { index: 0 }, body: '{"marker":1}' };
const receivedAt = 1_800_000_000_000;
const counts = { waiting: 1, active: 2, delayed: 3, prioritized: 4, failed: 5 };
const newer = { ...writeDelivery(delivery), version: 2 };

/** A failed job of a delivery, and what is done with it. */
function deadJob(members: Partial<BullJob> = {}) {
  const steps: unknown[][] = [];
  const note =
    (name: string) =>
    async (...given: unknown[]) =>
      void steps.push([name, ...given]);
  const job: BullJob = {
    ...{ id: 'j-1', name: 'x', timestamp: receivedAt, attemptsMade: 8, stalledCounter: 0 },
    ...{ data: writeDelivery(delivery), failedReason: 'Error: no', deduplicationId: digest },
    ...{ moveToWait: note('moveToWait'), moveToDelayed: note('moveToDelayed') },
    ...{ updateData: note('updateData'), retry: note('retry') },
    extendLock: async () => 1,
    isFailed: async () => true,
    ...members,
  };
  return { job, steps };
}

/** The inbox of a process that only receives, on a queue with this job for the digest. */
function open(job?: BullJob, queueMembers: Partial<BullQueue> = {}) {
  const asked: unknown[][] = [];
  const queue: BullQueue = {
    name: 'inbox',
    add: async () => ({ id: 'x' }),
    getDeduplicationJobId: async (id) => (job !== undefined && id === digest ? 'j-1' : null),
    getJob: async (id) => (id === 'j-1' ? job : undefined),
    async getJobs(...given) {
      asked.push(given);
      return job === undefined ? [] : [job];
    },
    getJobCounts: async (...types) => Object.fromEntries(types.map((type) => [type, counts[type]])),
    ...queueMembers,
  };
  return { inbox: bullmqInbox({ queue, role: 'receiver', now: () => receivedAt + 500 }), queue, asked };
}

describe('a dead letter of the BullMQ inbox', () => {
  const letter = { digest, name: 'x', attempts: 8, receivedAt: new Date(receivedAt), reason: 'Error: no' };

  it('is listed and read, with its body when that is asked for', async () => {
    const { inbox, asked } = open(deadJob().job);
    expect(await inbox.deadLetters({ limit: 7 })).toEqual([letter]);
    expect(asked).toEqual([[['failed'], 0, 6, true]]);
    expect(await inbox.deadLetters({ withBody: true })).toEqual([{ ...letter, body: delivery.body }]);
    expect(await inbox.deadLetter(digest)).toEqual(letter);
    expect(await inbox.deadLetter('other')).toBeUndefined();
  });

  it('has the reason and the attempts that its data says, where it was tried alone', async () => {
    const data = { ...delivery, alone: { attempt: 3, dead: true }, reason: 'r'.repeat(600) };
    const { inbox } = open(deadJob({ data }).job);
    expect(await inbox.deadLetter(digest)).toMatchObject({ attempts: 3, reason: 'r'.repeat(500) });
    const without = open(deadJob({ failedReason: undefined }).job);
    expect(await without.inbox.deadLetter(digest)).toMatchObject({ attempts: 8, reason: '' });
  });

  it('is replayed with all its attempts', async () => {
    const { job, steps } = deadJob();
    expect(await open(job).inbox.replay(digest)).toBe(true);
    expect(steps).toEqual([['retry', 'failed', { resetAttemptsMade: true, resetAttemptsStarted: true }]]);
  });

  it('is replayed too if another process was faster, and otherwise the failure is told', async () => {
    const retry = () => Promise.reject(new Error('gone'));
    const states = [true, false];
    const { job } = deadJob({ retry, isFailed: async () => states.shift() ?? false });
    expect(await open(job).inbox.replay(digest)).toBe(true);
    const { job: failing } = deadJob({ retry });
    await expect(open(failing).inbox.replay(digest)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('is discarded by ending like a handled job, so that its digest is remembered', async () => {
    const { job, steps } = deadJob();
    expect(await open(job).inbox.discard(digest)).toBe(true);
    expect(steps.map(([name, given]) => [name, given])).toEqual([
      ['updateData', handledData],
      ['retry', 'failed'],
    ]);
  });

  it.each<[string, BullJob | undefined]>([
    ['no job', undefined],
    ['a job that has not failed', deadJob({ isFailed: async () => false }).job],
  ])('is none for %s', async (_, job) => {
    const { inbox } = open(job);
    expect(await inbox.deadLetter(digest)).toBeUndefined();
    expect([await inbox.replay(digest), await inbox.discard(digest)]).toEqual([false, false]);
  });

  it('of a newer version is not listed, and not discarded', async () => {
    const { job, steps } = deadJob({ data: newer });
    const { inbox } = open(job);
    expect(await inbox.deadLetters()).toEqual([]);
    await expect(inbox.discard(digest)).rejects.toThrow('The dead letter is in the form of a newer version');
    expect(steps).toEqual([]);
  });

  it('is none if another program has stored the job, or if it is gone meanwhile', async () => {
    const { job } = deadJob({ data: { foreign: true } });
    const { inbox } = open(undefined, { getJobs: async () => [job, undefined, deadJob().job] });
    expect(await inbox.deadLetters()).toEqual([letter]);
  });
});

describe('the BullMQ inbox', () => {
  it('counts what waits in any way as open, and failed jobs as dead', async () => {
    const { inbox } = open();
    expect(await inbox.counts()).toEqual({ open: 10, dead: 5 });
    const empty = open(undefined, { getJobCounts: async () => ({}) });
    expect(await empty.inbox.counts()).toEqual({ open: 0, dead: 0 });
  });

  it('has the age of the oldest job, read without the others', async () => {
    const timestamps = [receivedAt + 200, receivedAt, receivedAt + 100];
    const { inbox } = open(undefined, {
      getJobs: async (types, start, end, ascending) => {
        expect([types, start, end, ascending]).toEqual([
          ['waiting', 'active', 'delayed', 'prioritized'],
          ...[0, 0, true],
        ]);
        return [undefined, ...timestamps.map((timestamp) => deadJob({ timestamp }).job)];
      },
    });
    expect(await inbox.health()).toMatchObject({ oldestAgeMs: 500 });
    expect(await open().inbox.health()).toMatchObject({ oldestAgeMs: null });
  });

  it('stores an event without a name under one that BullMQ takes', async () => {
    const names: string[] = [];
    const add: BullQueue['add'] = async (name, _, { jobId }) => {
      names.push(name);
      return { id: jobId };
    };
    const { inbox } = open(undefined, { add });
    for (const name of ['', 'event.x'])
      expect(await inbox.receive({ ...delivery, name }, async () => 'handled')).toBe('stored');
    expect(names).toEqual(['unnamed', 'event.x']);
  });

  it('has a quarantine only where its queue shows a client', () => {
    expect(open().inbox.quarantine).toBeUndefined();
    const withClient: Partial<BullQueue> & { client: unknown } = { client: new Promise(() => {}) };
    expect(open(undefined, withClient).inbox.quarantine).toBeDefined();
    expect(open(undefined, { getBackend: () => withClient }).inbox.quarantine).toBeDefined();
    expect(open(undefined, { ...withClient, getBackend: () => ({}) }).inbox.quarantine).toBeUndefined();
  });

  it('has no quarantine reviewed after its stop', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue } = open();
    const inbox = bullmqInbox({ queue, createWorker: () => expect.unreachable() });
    const review = vi.fn(async () => {});
    inbox.attach?.({ hasHandlers: false, review, handle: async () => 'handled', report: () => {} });
    vi.advanceTimersByTime(2_000);
    await inbox.stop();
    vi.advanceTimersByTime(10_000);
    expect(review).toHaveBeenCalledTimes(1);
  });

  it('is drained at once where it only receives', async () => {
    expect(await open().inbox.stop()).toBe('drained');
  });

  it('has the digest of a completed job remembered, and none of a job that has none', async () => {
    const added: unknown[][] = [];
    const listeners: Record<string, (job: BullJob) => void> = {};
    const made = Promise.withResolvers<void>();
    const { job } = deadJob();
    const inbox = bullmqInbox({
      queue: {
        name: 'inbox',
        async add(...given) {
          added.push(given);
          return { id: 'j-1' };
        },
        getDeduplicationJobId: async () => null,
        getJob: async () => undefined,
        getJobs: async () => [],
        getJobCounts: async () => ({}),
      },
      createWorker: () => ({
        concurrency: 1,
        waitUntilReady: async () => {},
        close: async () => {},
        disconnect: async () => {},
        on(event: string, listener: (...given: never[]) => void) {
          Object.assign(listeners, { [event]: listener });
          if (event === 'failed') made.resolve();
        },
      }),
      rememberMs: 5_000,
    });
    const host: InboxHost = { hasHandlers: true, handle: async () => 'handled', report: () => {} };
    inbox.attach?.(host);
    await made.promise;
    listeners.completed?.(job);
    listeners.completed?.(deadJob({ deduplicationId: undefined }).job);
    await nextTurn();
    expect(added).toEqual([
      ['x', handledData, { removeOnComplete: true, deduplication: { id: digest, ttl: 5_000, extend: true } }],
    ]);
    expect(await inbox.stop()).toBe('drained');
  });
});
