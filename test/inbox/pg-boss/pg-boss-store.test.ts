import { describe, expect, it } from 'vitest';
import type { Boss, BossJob, NewBossJob } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { type BossLease, toLease } from '../../../src/inbox/pg-boss/pg-boss-lease.ts';
import { pgBossStore } from '../../../src/inbox/pg-boss/pg-boss-store.ts';
import { handledData } from '../../../src/inbox/stored-delivery.ts';

const digest = 'ab'.repeat(32);
const id = 'abababab-abab-abab-abab-abababababab';
const delivery = { digest, name: 'event.x', key: { index: 0 }, body: '{}' };
const createdOn = new Date(1_800_000_000_000);
const tenYears = { retentionSeconds: 316_224_000 };

/** A pg-boss that notes what it is asked for, and the store over it. */
function open(
  answer: (sql: string, values: readonly unknown[]) => object[] = () => [],
  { stored = true } = {},
) {
  const calls: unknown[][] = [];
  const note = (...call: unknown[]) => void calls.push(call);
  const boss: Boss = {
    createQueue: async (...given) => note('createQueue', ...given),
    async insert(name, jobs) {
      note('insert', name, jobs);
      return stored ? jobs.map((job) => job.id) : [];
    },
    async fetch(...given) {
      note('fetch', ...given);
      return [];
    },
    complete: async (...given) => note('complete', ...given),
    fail: async (...given) => note('fail', ...given),
    async findJobs(name, { db }) {
      note('findJobs', name);
      await db.executeSql('SELECT id FROM pgboss.job WHERE name = $1');
      return [];
    },
    deleteJob: async (...given) => note('deleteJob', ...given),
    getDb: () => ({
      async executeSql(sql, values = []) {
        if (sql.startsWith('UPDATE')) note('UPDATE', ...values);
        return { rows: answer(sql, values) };
      },
    }),
  };
  const store = pgBossStore({
    boss,
    queue: 'q',
    timeLimitMs: 60_000,
    retry: { firstDelayMs: 1_500, maxDelayMs: 600_000 },
    rememberMs: 86_400_001,
  });
  const named = (name: string) => calls.filter(([call]) => call === name).map(([, ...given]) => given);
  return { store, calls, named };
}

/** The lease of the third attempt. */
function leased(members: Partial<BossJob> = {}): BossLease {
  const lease = toLease({
    ...{ id, state: 'active', priority: 0, retryCount: 2, createdOn, expireInSeconds: 65 },
    ...{ output: { reason: 'no' }, sourceCreatedOn: null, sourceRetryCount: null },
    data: { ...delivery, more: 1 },
    ...members,
  });
  if (lease === undefined) throw new Error('The job holds no delivery.');
  return lease;
}

const inState = (state: string) => (sql: string) => (sql.includes('SELECT state') ? [{ state }] : []);

describe('the store over pg-boss', () => {
  it('makes two queues whose jobs stay for ten years, once', async () => {
    const { store, named } = open();
    await store.lease(5);
    await store.leaseIsolated();
    expect(named('createQueue')).toEqual([
      ['q_dead', tenYears],
      ['q', { ...tenYears, deadLetter: 'q_dead' }],
    ]);
    expect(named('fetch')).toEqual([
      ['q', { batchSize: 5, includeMetadata: true, minPriority: 0 }],
      ['q', { batchSize: 1, includeMetadata: true, maxPriority: -1 }],
    ]);
  });

  it('leases a job for the time limit and five seconds more, or twice a short one', () => {
    expect(open().store.leaseMs).toBe(65_000);
    const options = { queue: 'q', retry: { firstDelayMs: 1, maxDelayMs: 1 }, rememberMs: 1 };
    const boss = Object({});
    expect(pgBossStore({ boss, ...options, timeLimitMs: 2_000 }).leaseMs).toBe(4_000);
    expect(pgBossStore({ boss, ...options, timeLimitMs: 1_200 }).leaseMs).toBe(3_000);
  });

  it('stores a delivery under an id of its digest, with times in seconds', async () => {
    const { store, named } = open();
    expect(await store.insert([delivery, delivery])).toEqual(['stored', 'duplicate']);
    const job: NewBossJob = {
      ...{ id, data: delivery, retryLimit: 1_000_000_000, retryDelay: 2, retryBackoff: true },
      ...{ retryDelayMax: 600, expireInSeconds: 65, ...tenYears, deleteAfterSeconds: 86_401 },
      groupId: 'inbox',
    };
    expect(named('insert')).toEqual([['q', [job]]]);
  });

  it('looks for its queue and its table again once a job was not stored', async () => {
    const { store, named } = open(() => [], { stored: false });
    for (let count = 0; count < 2; count++)
      expect(await store.insert([delivery])).toMatchObject([{ message: expect.stringContaining('in q') }]);
    expect(named('createQueue')).toHaveLength(4);
    expect(named('findJobs')).toHaveLength(2);
  });

  it('forgets the bodies of jobs before it completes them', async () => {
    const { store, calls } = open();
    expect(await store.complete([leased(), leased({ id: 'other' })])).toEqual([undefined, undefined]);
    expect(calls.slice(-2)).toEqual([
      ['UPDATE', 'q', JSON.stringify(handledData), [id, 'other']],
      ['complete', 'q', [id, 'other'], null, { includeQueued: true }],
    ]);
  });

  it('completes what was handled though it is leased again, and fails what is not its own', async () => {
    const { store, named } = open();
    await store.failForeignJob(Object({ ...leased(), data: handledData }));
    await store.failForeignJob(Object({ ...leased(), id: 'other', data: { foreign: true } }));
    expect(named('complete').map(([, ids]) => ids)).toEqual([[id]]);
    expect(named('fail')).toEqual([['q', 'other', { reason: 'No delivery of the inbox.' }]]);
  });

  it.each([
    ['active', [['q', id, { reason: 'no' }]]],
    ['completed', []],
    ['retry', []],
  ])('postpones a job that is %s', async (state, expected) => {
    const { store, named } = open(inState(state));
    await store.postpone(leased(), 'no');
    expect(named('fail')).toEqual(expected);
  });

  it('puts a delivery back without counting the attempt', async () => {
    const { store, named } = open();
    const lease = leased({ data: { ...delivery, attempts: 4 } });
    await store.putBack(lease, 700);
    // The next lease is its seventh attempt, as this one is.
    expect(named('UPDATE')).toEqual([
      ['q', id, 2, 700, '{"attempts":3}', JSON.stringify({ reason: 'No handler.' })],
    ]);
    await store.undoLease(Object({ ...lease, data: {} }), 900);
    expect(named('UPDATE')[1]).toEqual(['q', id, 2, 900]);
  });
});

describe('a job that another one replaces', () => {
  it('is tried alone from then on, with its failed attempts and what a newer version has added', async () => {
    const { store, named } = open(inState('active'));
    expect(await store.isolate(leased())).toBe(true);
    const [[queue, [job]] = []] = Object(named('insert'));
    expect([queue, job]).toMatchObject(['q', { priority: -1, expireInSeconds: 65 }]);
    expect(job.data).toEqual({ ...delivery, more: 1, receivedAt: createdOn.getTime(), attempts: 1 });
    expect(job.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(job.id).not.toBe(id);
    expect(named('complete')).toHaveLength(1);
  });

  it.each([
    ['completed', true],
    ['retry', false],
    ['created', false],
  ])('is left as it is when it is %s by now', async (state, expected) => {
    const { store, named } = open(inState(state));
    expect(await store.moveToDeadLetters(leased(), 'no')).toBe(expected);
    expect([named('insert'), named('complete')]).toEqual([[], []]);
  });

  it('stays until the dead letter is stored', async () => {
    const { store, named } = open(inState('active'), { stored: false });
    await expect(store.moveToDeadLetters(leased(), 'no')).rejects.toThrow('did not store a job in q_dead');
    expect(named('complete')).toEqual([]);
  });

  it('says in its dead letter how often it was tried, why it failed, and whether alone', async () => {
    const { store, named } = open(inState('active'));
    expect(await store.moveToDeadLetters(leased({ priority: -1 }), 'no')).toBe(true);
    const told = { receivedAt: createdOn.getTime(), attempts: 3, reason: 'no', alone: true };
    expect(named('insert')).toEqual([
      ['q_dead', [{ id, ...tenYears, data: { ...delivery, more: 1, ...told } }]],
    ]);
  });
});

describe('a search', () => {
  it.each([
    [[{ found: 1 }], true],
    [[], false],
  ])('that finds %j tells whether a job waits to be alone', async (rows, isDue) => {
    const { store } = open((sql) => (sql.includes('priority <= -1') ? rows : []));
    expect(await store.isIsolatedDue()).toBe(isDue);
  });

  it('for dead letters gives their bodies where they are asked for', async () => {
    const { store } = open(() => [{ id, data: { ...delivery, attempts: 3, reason: 'no' }, createdOn }]);
    expect(await store.deadLetters({ limit: 5, withBody: true })).toMatchObject([{ digest, body: '{}' }]);
    expect(await store.deadLetters({ limit: 5, withBody: false })).not.toMatchObject([{ body: '{}' }]);
  });

  it('for one to be replayed may find what is no delivery, which stays', async () => {
    const { store, named } = open(() => [{ id, data: { digest }, createdOn }]);
    expect(await store.replay(digest)).toBe(true);
    expect([named('insert'), named('deleteJob')]).toEqual([[], []]);
  });

  it.each([
    ['nothing', [], undefined],
    ['no time', [{ at: null }], undefined],
    ['a time', [{ at: '1800000000000.5' }], 1_800_000_000_000.5],
  ])('for the oldest delivery may find %s', async (_, rows, expected) => {
    expect(await open(() => rows).store.oldestCreatedAt()).toBe(expected);
  });
});
