import { describe, expect, it } from 'vitest';
import { bullmqInbox } from '../../src/inbox/bullmq/bullmq-inbox.ts';
import type { BullQueue } from '../../src/inbox/bullmq/bullmq-job.ts';
import { pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../src/inbox/pg-boss/pg-boss-job.ts';
import { nextTurn } from '../support/next-turn.ts';
import { refusal } from '../support/refusal.ts';
import { order, receiver } from './contract.ts';

const month = 30 * 24 * 60 * 60;

describe('the BullMQ inbox', () => {
  /** A queue that has a job of the same delivery already, or none. */
  function queueThatAdds(added: unknown[], existing?: string): BullQueue {
    const unused = () => Promise.reject(new Error('Not reached.'));
    return {
      name: 'x',
      async add(...call) {
        added.push(call);
        return { id: existing ?? call[2].jobId };
      },
      ...{ getDeduplicationJobId: unused, getJob: unused, getJobs: unused, getJobCounts: unused },
    };
  }

  it('deletes handled jobs, keeps failed ones for ever, and leaves giving up to who handles', async () => {
    const added: unknown[] = [];
    const inbox = bullmqInbox({ queue: queueThatAdds(added), role: 'receiver' });
    const outcome = await receiver(inbox).webhooks.receive(order('A'));
    const digest = 'digest' in outcome ? outcome.digest : '';
    expect(added).toEqual([
      [
        'event.buy.init',
        { name: 'event.buy.init', digest, key: { index: 0 }, body: order('A') },
        {
          jobId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
          deduplication: {
            id: digest,
            ttl: expect.toSatisfy((ms: number) => ms > 5 * 12 * month * 1000),
          },
          attempts: 1_000_000_000,
          backoff: { type: 'inbox' },
          removeOnComplete: true,
          removeOnFail: false,
          stackTraceLimit: 0,
        },
      ],
    ]);
  });

  it.each([
    [undefined, 'stored'],
    ['of another one', 'duplicate'],
  ])('asks BullMQ once: if that answers with the job %s, the delivery is %s', async (existing, kind) => {
    const added: unknown[] = [];
    const inbox = bullmqInbox({ queue: queueThatAdds(added, existing), role: 'receiver' });
    expect(await receiver(inbox).webhooks.receive(order('A'))).toMatchObject({ kind });
    expect(added).toHaveLength(1);
  });

  it('lets the worker connect before it closes it', async () => {
    const calls: string[] = [];
    const ready = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const inbox = bullmqInbox({
      queue: queueThatAdds([]),
      createWorker() {
        made.resolve();
        return {
          concurrency: 1,
          waitUntilReady: () => ready.promise,
          close: async () => void calls.push('close'),
          disconnect: async () => void calls.push('disconnect'),
          on: () => {},
        };
      },
    });
    receiver(inbox);
    await made.promise;
    const stopped = inbox.stop();
    await nextTurn();
    expect(calls).toEqual([]);
    ready.resolve();
    expect(await stopped).toBe('drained');
    expect(calls).toEqual(['close']);
  });

  it('needs a queue, and something to make its worker with', () => {
    expect(() => bullmqInbox({ queue: queueThatAdds([]) })).toThrow('createWorker');
    const withoutQueue = () => bullmqInbox({} as { queue: BullQueue });
    expect(refusal(withoutQueue)).toBe('ConfigurationError invalid_option');
    expect(withoutQueue).toThrow('bullmqInbox needs a BullMQ queue.');
  });

  it('says which BullMQ it needs when the queue lacks a method', () => {
    const old: unknown = { name: 'x', add: async () => {} };
    const open = () => bullmqInbox({ queue: old as BullQueue, role: 'receiver' });
    expect(open).toThrow(
      'bullmqInbox needs BullMQ 5.81.5 or later: the one given has no getDeduplicationJobId().',
    );
  });

  it.each<object>([{ timeout: 5 }, { storeTimeout: 5 }, { retry: { firstDelay: 5 } }, { concurency: 5 }])(
    'refuses the unknown option of %j, and names the nearest',
    (wrong) => {
      const queue: unknown = {};
      const given = { queue: queue as BullQueue, ...wrong };
      expect(() => bullmqInbox(given)).toThrow(/is not an option of (bullmqInbox|retry)\. Did you mean/);
      const boss: unknown = {};
      expect(() => pgBossInbox({ boss: boss as Boss, ...wrong })).toThrow(
        /is not an option of (pgBossInbox|retry)\. Did you mean/,
      );
    },
  );
});

describe('the pg-boss inbox', () => {
  it('keeps handled jobs for 30 days, others for years, and leaves giving up to who handles', async () => {
    const inserted: unknown[] = [];
    const queues: unknown[] = [];
    const none = async () => [];
    const boss: unknown = {
      createQueue: async (...call: unknown[]) => queues.push(call),
      insert: async (name: string, jobs: { id: string }[], options: object) => {
        inserted.push([name, jobs, options]);
        return jobs.map(({ id }) => id);
      },
      ...{ fetch: none, complete: none, fail: none, findJobs: none, deleteJob: none, getDb: none },
    };
    // Only what receive reaches.
    const { webhooks } = receiver(pgBossInbox({ boss: boss as Boss, role: 'receiver' }));
    const outcome = await webhooks.receive(order('A'));
    await webhooks.receive(order('B'));
    const digest = 'digest' in outcome ? outcome.digest : '';
    const years = expect.toSatisfy((seconds: number) => seconds > 5 * 12 * month);
    expect(queues).toEqual([
      ['partner_inbox_dead', { retentionSeconds: years }],
      ['partner_inbox', { retentionSeconds: years, deadLetter: 'partner_inbox_dead' }],
    ]);
    const job = {
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      data: { name: 'event.buy.init', digest, key: { index: 0 }, body: order('A') },
      retryLimit: 1_000_000_000,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 600,
      expireInSeconds: 65,
      retentionSeconds: years,
      deleteAfterSeconds: month,
      groupId: 'inbox',
    };
    expect(inserted[0]).toEqual(['partner_inbox', [job], { returnId: true }]);
    expect(inserted).toHaveLength(2);
  });

  it('has stored what was received before it stopped, also in the same turn', async () => {
    let stored = 0;
    const none = async () => [];
    const boss: unknown = {
      insert: async (_name: string, jobs: { id: string }[]) => {
        stored += jobs.length;
        return jobs.map(({ id }) => id);
      },
      ...{ createQueue: none, fetch: none, complete: none, fail: none, findJobs: none },
      ...{ deleteJob: none, getDb: none },
    };
    const inbox = pgBossInbox({ boss: boss as Boss, role: 'receiver' });
    const delivery = { digest: '0'.repeat(64), name: 'event.buy.init', key: { index: 0 }, body: '{}' };
    const received = inbox.receive(delivery, async () => 'handled');
    await inbox.stop();
    // From now on pg-boss may be stopped, too.
    expect(stored).toBe(1);
    expect(await received).toBe('stored');
  });

  it('needs a pg-boss', () => {
    const withoutBoss = () => pgBossInbox({} as { boss: Boss });
    expect(refusal(withoutBoss)).toBe('ConfigurationError invalid_option');
    expect(withoutBoss).toThrow('pgBossInbox needs a pg-boss instance.');
  });

  it('says which pg-boss it needs when the one given lacks a method', () => {
    const old: unknown = { insert: async () => null, createQueue: async () => {} };
    const open = () => pgBossInbox({ boss: old as Boss });
    expect(open).toThrow('pgBossInbox needs pg-boss 12.26 or later: the one given has no fetch().');
  });
});
