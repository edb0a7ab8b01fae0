import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { type Job, Queue, type Telemetry, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { type BullmqInboxOptions, bullmqInbox } from '../../../src/inbox/bullmq/bullmq-inbox.ts';
import type { BullQueue, BullWorker } from '../../../src/inbox/bullmq/bullmq-job.ts';
import type { ManagedInbox } from '../../../src/inbox/inbox.ts';
import { startRedis } from '../../support/private-server.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { eventually, order, quick, receiver } from '../contract.ts';
import { engines, redisAddress } from '../engines.ts';

const redisHere = (await engines.find(({ name }) => name === 'bullmq')?.absent()) === undefined;
const prefix = `pex_bull_${randomBytes(5).toString('hex')}`;
/** A lock that a busy machine keeps, and that is soon missed all the same. */
const lockMs = 3_000;
const lookEveryMs = 50;
const month = 30 * 24 * 60 * 60 * 1000;

it('bullmqInbox takes the queue and the worker of BullMQ as they are', () => {
  expectTypeOf<Queue>().toExtend<BullQueue>();
  expectTypeOf<Worker>().toExtend<BullWorker>();
});

const redis = new Redis(redisAddress);
afterAll(async () => {
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
});

let opened = 0;

/** What a test needs of its own: a queue, inboxes on it, and looks at what Redis holds of it. */
function openQueue() {
  const queue = new Queue(`inbox${opened++}`, { connection: redisAddress, prefix });
  const inboxes: ManagedInbox[] = [];

  /** An inbox, and what ends its worker as the end of its process would: without a word to Redis. */
  function open(options: Partial<BullmqInboxOptions> = {}, own: Partial<WorkerOptions> = {}) {
    let worker: Worker | undefined;
    const inbox = bullmqInbox({
      queue,
      createWorker: (name, processor, given) => {
        const place = { connection: redisAddress, prefix, stalledInterval: lookEveryMs };
        worker = new Worker(name, processor, { ...given, ...place, ...own });
        return worker;
      },
      ...quick,
      maxAttempts: 2,
      timeLimitMs: lockMs,
      ...options,
    });
    inboxes.push(inbox);
    return { inbox, kill: () => worker?.close(true) };
  }

  return {
    queue,
    open,

    /** The jobs that Redis keeps, in whatever state. */
    jobKeys: async () =>
      (await redis.keys(`${prefix}:${queue.name}:*`)).filter((key) => /[0-9a-f]{8}-/.test(key)),

    /** Milliseconds for which BullMQ still knows a digest; negative if it does not. */
    timeLeft: (digest = '') => redis.pttl(`${prefix}:${queue.name}:de:${digest}`),

    /** Has a worker die while it handles. */
    async dieHandling(own: Partial<WorkerOptions> = {}) {
      const begun = gate();
      const { inbox, kill } = open({}, own);
      const { reports } = receiver(inbox, () => {
        begun.open();
        return new Promise(() => {});
      });
      await begun.opened;
      await kill();
      return reports;
    },

    async close(): Promise<void> {
      await Promise.all(inboxes.map((inbox) => inbox.stop({ timeoutMs: 0 })));
      await queue.obliterate({ force: true });
      await queue.close();
    },
  };
}

/** The tests run side by side. */
function test(name: string, run: (own: ReturnType<typeof openQueue>) => Promise<void>): void {
  it.concurrent(name, async () => {
    const own = openQueue();
    await run(own).finally(own.close);
  });
}

describe.runIf(redisHere)('the BullMQ inbox', () => {
  test('reports a delivery as dead, once, that all its handlers died of; replayed, it has all attempts again', async (own) => {
    await receiver(own.open({ role: 'receiver' }).inbox).webhooks.receive(order('A'));
    // The first time among others, for all that is known.
    const silent = [...(await own.dieHandling()), ...(await own.dieHandling()), ...(await own.dieHandling())];
    const errors: unknown[] = [];
    const { inbox } = own.open();
    let broken = true;
    const { reports, calls } = receiver(
      inbox,
      () => {
        if (broken) throw new Error('still');
      },
      { onError: (error) => errors.push(error) },
    );
    await eventually(() => expect(reports).toMatchObject([{ stage: 'handle', outcome: 'dead', attempt: 2 }]));
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    const [deadLetter] = await inbox.deadLetters();
    expect(deadLetter).toMatchObject({ attempts: 2, reason: expect.stringContaining('died') });
    expect([silent, calls]).toEqual([[], []]);

    await inbox.replay(deadLetter?.digest ?? '');
    await eventually(() => expect(reports.map(({ outcome }) => outcome)).toEqual(['dead', 'failed', 'dead']));
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 2, reason: 'Error: still' }]);
    // The deaths before it are forgotten too.
    await inbox.replay(deadLetter?.digest ?? '');
    await eventually(() => expect(reports).toHaveLength(5));
    broken = false;
    await inbox.replay(deadLetter?.digest ?? '');
    await eventually(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled', attempt: 1 }));
  });

  test('tries alone what a dead process had in hand, counts none of that, and lets the others run in between', async (own) => {
    const names = ['A', 'B', 'C', 'D'];
    const { send } = receiver(own.open({ role: 'receiver' }).inbox);
    for (const id of names) await send(order(id));
    let begun = 0;
    const all = gate();
    const first = own.open({ maxAttempts: 1 });
    receiver(first.inbox, () => {
      if (++begun === names.length) all.open();
      return new Promise(() => {});
    });
    await all.opened;
    await first.kill();

    const running = new Set<string>();
    const beside = new Set<string>();
    const second = own.open({ maxAttempts: 1 });
    const { reports, calls } = receiver(second.inbox, async (id) => {
      running.add(id);
      // real time: others could begin meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (names.includes(id) && running.size > 1) for (const one of running) beside.add(one);
      running.delete(id);
    });
    for (let index = 0; calls.length < 20; index++) {
      await send(order(`other ${index}`));
      // real time: the next one comes a little later.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await eventually(() => expect(calls).toEqual(expect.arrayContaining(names)));
    await eventually(async () => expect(await second.inbox.counts()).toEqual({ open: 0, dead: 0 }));
    expect([...beside]).toEqual([]);
    expect(reports.filter(({ attempt }) => attempt !== 1)).toEqual([]);
    expect(reports.filter(({ outcome }) => outcome !== 'handled')).toEqual([]);
    // Each of them once, and the others side by side again.
    expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
  });

  test('gives back what waits to be tried alone when it is stopped, without an attempt', async (own) => {
    const { send } = receiver(own.open({ role: 'receiver' }).inbox);
    await send(order('A'));
    await own.dieHandling();
    const begun = gate();
    const end = gate();
    const { inbox } = own.open({ maxAttempts: 1, timeLimitMs: 5_000 });
    const { calls } = receiver(inbox, async () => {
      begun.open();
      await end.opened;
    });
    await send(order('B'));
    await begun.opened;
    // Found by then, and waits for the other one.
    await eventually(async () => {
      const found = (await own.queue.getActive()).filter(({ stalledCounter }) => stalledCounter === 1);
      expect(found).toHaveLength(1);
    });
    const stopped = inbox.stop({ timeoutMs: 5_000 });
    end.open();
    expect(await stopped).toBe('drained');
    expect(calls).toEqual(['B']);
    const [waiting] = await own.queue.getWaiting();
    expect(waiting).toMatchObject({ attemptsMade: 0, stalledCounter: 1 });
    expect(waiting?.data).not.toHaveProperty('alone');
  });

  test('reports a delivery as dead, once, that BullMQ gives up by itself', async ({ open, dieHandling }) => {
    await receiver(open({ role: 'receiver' }).inbox).webhooks.receive(order('A'));
    await dieHandling({ maxStalledCount: 0 });
    const { inbox } = open({ maxAttempts: 8 }, { maxStalledCount: 0 });
    const { reports, calls } = receiver(inbox, undefined, { onError: () => {} });
    await eventually(() => expect(reports).toMatchObject([{ stage: 'handle', outcome: 'dead', attempt: 1 }]));
    expect(await inbox.deadLetters()).toMatchObject([
      { attempts: 1, reason: expect.stringContaining('stalled') },
    ]);
    expect(calls).toEqual([]);
  });

  test('has the attempts counted by who handles, not by who stored', async ({ open }) => {
    await receiver(open({ role: 'receiver', maxAttempts: 1 }).inbox).webhooks.receive(order('A'));
    const { inbox } = open({ maxAttempts: 3 });
    const { reports } = receiver(inbox, () => Promise.reject(new Error('no')));
    await eventually(() =>
      expect(reports.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'dead']),
    );
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 3 }]);
  });

  test('waits twice as long after each attempt, up to the longest delay, less up to half by chance', async (own) => {
    const { inbox } = own.open({
      maxAttempts: 8,
      retry: { firstDelayMs: 60_000, maxDelayMs: 300_000 },
      random: () => Uint8Array.of(128, 0),
    });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    for (const [index, waitMs] of [60_000, 120_000, 240_000, 300_000].entries()) {
      await eventually(() => expect(calls).toHaveLength(index + 1));
      await eventually(async () => expect(await own.queue.getDelayedCount()).toBe(1));
      const [job] = await own.queue.getDelayed();
      expect(job?.delay).toBe(waitMs * 0.75);
      await job?.promote();
    }
  });

  test('has done with a dead letter that is discarded: it is neither tried again nor stored again', async (own) => {
    const { inbox } = own.open({ maxAttempts: 1 });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    const [deadLetter] = await inbox.deadLetters();
    expect(await inbox.discard(deadLetter?.digest ?? '')).toBe(true);
    await eventually(async () => expect(await own.jobKeys()).toEqual([]));
    expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    await eventually(async () => expect(await own.timeLeft(deadLetter?.digest)).toBeLessThanOrEqual(month));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A']);
  });

  test('keeps nothing of a delivery that was handled but its digest, and forgets that in time', async (own) => {
    const { inbox } = own.open({ rememberMs: 1_000 });
    const { webhooks, calls } = receiver(inbox);
    const outcome = await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    await eventually(async () => expect(await own.jobKeys()).toEqual([]));
    const digest = 'digest' in outcome ? outcome.digest : '';
    await eventually(async () => expect(await own.timeLeft(digest)).toBeLessThanOrEqual(1_000));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    await eventually(async () =>
      expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' }),
    );
    await eventually(() => expect(calls).toEqual(['A', 'A']));
  });

  test('remembers what waits, or is a dead letter, for longer than what was handled', async ({ open }) => {
    const rememberMs = 50;
    const waiting = receiver(open({ rememberMs, role: 'receiver' }).inbox);
    await waiting.send(order('A'));
    // real time: what it would forget is forgotten after this.
    await new Promise((resolve) => setTimeout(resolve, 2 * rememberMs));
    expect(await waiting.send(order('A'))).toMatchObject({ kind: 'duplicate' });
    const { inbox } = open({ rememberMs, maxAttempts: 1 });
    const { calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    // real time: what it would forget is forgotten after this.
    await new Promise((resolve) => setTimeout(resolve, 2 * rememberMs));
    expect(await waiting.send(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A']);
  });

  test('remembers a dead letter that was handled by a process which died before it could say so', async (own) => {
    const rememberMs = 50;
    const { send } = receiver(own.open({ role: 'receiver' }).inbox);
    await send(order('A'));
    const handled = gate();
    let dying: Worker | undefined;
    const { inbox: first } = own.open({
      createWorker: (name, processor, given) => {
        const processed = async (job: Job) => {
          await processor(job);
          handled.open();
          await new Promise(() => {});
        };
        dying = new Worker(name, processed, { ...given, connection: redisAddress, prefix });
        return dying;
      },
      maxAttempts: 3,
      rememberMs,
    });
    receiver(first);
    await handled.opened;
    await dying?.close(true);

    const { inbox } = own.open({ rememberMs, maxAttempts: 1 });
    const { calls } = receiver(inbox, () => Promise.reject(new Error('no')));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    // real time: what it would forget is forgotten after this.
    await new Promise((resolve) => setTimeout(resolve, 2 * rememberMs));
    expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
    const [deadLetter] = await inbox.deadLetters();
    expect(await inbox.replay(deadLetter?.digest ?? '')).toBe(true);
    await eventually(() => expect(calls).toEqual(['A', 'A']));
  });

  test('remembers what was handled, even if BullMQ lost its digest meanwhile', async (own) => {
    const [begun, end] = [gate(), gate()];
    const { inbox } = own.open({ timeLimitMs: 5_000 });
    const { send, calls } = receiver(inbox, () => {
      begun.open();
      return end.opened;
    });
    const outcome = await send(order('A'));
    const digest = 'digest' in outcome ? outcome.digest : '';
    await begun.opened;
    await redis.del(`${prefix}:${own.queue.name}:de:${digest}`);
    end.open();
    await eventually(async () => expect(await own.timeLeft(digest)).toBeGreaterThan(0));
    await eventually(async () => expect(await own.jobKeys()).toEqual([]));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
    expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(calls).toEqual(['A']);
  });

  describe('when BullMQ is slow or fails to shorten its memory of what was handled', () => {
    /** An inbox whose queue does something else first. */
    function openLater({ queue, open }: ReturnType<typeof openQueue>, before: () => Promise<unknown>) {
      const add: BullQueue['add'] = async (name, data, options) => {
        if (options.deduplication.extend) await before();
        return queue.add(name, data, options);
      };
      const late: BullQueue = {
        name: queue.name,
        add,
        getDeduplicationJobId: (id) => queue.getDeduplicationJobId(id),
        getJob: (id) => queue.getJob(id),
        getJobs: (...what) => queue.getJobs(...what),
        getJobCounts: (...types) => queue.getJobCounts(...types),
      };
      const errors: unknown[] = [];
      const { inbox } = open({ queue: late, onStoreError: (error) => errors.push(error) });
      return { ...receiver(inbox), inbox, errors };
    }

    test('waits for that too when it stops', async (own) => {
      const { timeLeft } = own;
      // real time: the stop waits meanwhile.
      const { inbox, send, calls } = openLater(own, () => new Promise((resolve) => setTimeout(resolve, 100)));
      const outcome = await send(order('A'));
      await eventually(() => expect(calls).toEqual(['A']));
      expect(await inbox.stop({ timeoutMs: 5_000 })).toBe('drained');
      expect(await timeLeft('digest' in outcome ? outcome.digest : '')).toBeLessThanOrEqual(month);
    });

    test('says so, and handles nothing twice', async (own) => {
      const { jobKeys } = own;
      const { send, errors, calls } = openLater(own, () => Promise.reject(new Error('full')));
      await send(order('A'));
      await eventually(() => expect(errors).toMatchObject([{ message: 'full' }]));
      expect(await jobKeys()).toEqual([]);
      expect(await send(order('A'))).toMatchObject({ kind: 'duplicate' });
      expect(calls).toEqual(['A']);
    });
  });

  test('stores a delivery again whose job another program has removed', async ({ queue, open }) => {
    const { webhooks } = receiver(open({ role: 'receiver' }).inbox);
    const outcome = await webhooks.receive(order('A'));
    await queue.remove((await queue.getDeduplicationJobId(outcome.digest ?? '')) ?? '');
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
  });

  test('lists dead letters though another program put failing jobs into the queue', async (own) => {
    const { inbox } = own.open({ maxAttempts: 1 });
    await own.queue.add('foreign', { some: 'thing' });
    const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no')));
    await eventually(async () => expect(await own.queue.getFailedCount()).toBe(1));
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await own.queue.getFailedCount()).toBe(2));
    expect(await inbox.deadLetters()).toMatchObject([{ name: 'event.buy.init' }]);
  });

  test('keeps one reason of a delivery that fails, not a stack for each attempt', async ({ queue, open }) => {
    const { inbox } = open();
    const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no '.repeat(2_000))));
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.deadLetters()).toHaveLength(1));
    const [job] = await queue.getFailed();
    expect(job?.stacktrace).toEqual([]);
    expect(job?.data.reason).toHaveLength(500);
  });

  test('tells onStoreError once a second of a worker that fails without a pause', async ({ open }) => {
    const told: unknown[] = [];
    let worker: Worker | undefined;
    const { inbox } = open({
      onStoreError: (error) => told.push(error),
      createWorker: (name, processor, given) => {
        worker = new Worker(name, processor, { ...given, connection: redisAddress, prefix });
        return worker;
      },
    });
    receiver(inbox);
    await vi.waitUntil(() => worker !== undefined);
    for (let times = 0; times < 1_000; times++) worker?.emit('error', new Error('OOM command not allowed'));
    expect(told).toEqual([new Error('OOM command not allowed')]);
  });

  test("leaves BullMQ's own telemetry alone: a handler runs within the trace of its receipt", async (own) => {
    const active = new AsyncLocalStorage<string>();
    const telemetry: Telemetry<string> = {
      tracer: {
        startSpan: (name) => ({
          setSpanOnContext: (path) => `${path} > ${name.split(' ')[0]}`,
          setAttribute() {},
          setAttributes() {},
          addEvent() {},
          recordException() {},
          end() {},
        }),
      },
      contextManager: {
        with: (path, run) => active.run(path, run),
        active: () => active.getStore() ?? '',
        getMetadata: (path) => path,
        fromMetadata: (_, metadata) => metadata,
      },
    };
    const traced = new Queue(own.queue.name, { connection: redisAddress, prefix, telemetry });
    const seen: unknown[] = [];
    const { webhooks } = receiver(own.open({ queue: traced }, { telemetry }).inbox, () =>
      seen.push(active.getStore()),
    );
    await active.run('request', () => webhooks.receive(order('A')));
    await eventually(() => expect(seen).toEqual(['request > add > process']));
    await traced.close();
  });

  test('stops in time though Redis went away while a handler was running', async () => {
    const redis = await startRedis(scratchFolder());
    const connection = { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null };
    const own = new Queue('inbox', { connection, prefix });
    own.on('error', () => {});
    const inbox = bullmqInbox({
      queue: own,
      createWorker: (name, processor, given) => new Worker(name, processor, { ...given, connection, prefix }),
      ...quick,
      timeLimitMs: 60_000,
      onStoreError: () => {},
    });
    const begun = gate();
    const { webhooks } = receiver(inbox, () => {
      begun.open();
      return new Promise(() => {});
    });
    await webhooks.receive(order('A'));
    await begun.opened;
    await redis.stop();
    const stoppedAt = performance.now();
    expect(await inbox.stop({ timeoutMs: 0 })).toBe('cut-off');
    // real time: a stop that waits for Redis ends never.
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    // So that the queue of the test can be closed.
    await redis.restart();
    await own.close();
    await redis.stop();
  });
});
