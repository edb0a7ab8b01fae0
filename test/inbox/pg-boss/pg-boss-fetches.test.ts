import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PgBossInboxOptions, pgBossInbox } from '../../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss, BossJob } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { order, receiver } from '../contract.ts';

const createdOn = new Date(1_800_000_000_000);

/** A job as pg-boss gives it out, of its own number. */
function jobOf(number: number, members: Partial<BossJob> = {}): BossJob {
  const digest = String(number).repeat(64);
  return {
    ...{ id: `job-${number}`, state: 'active', priority: 0, retryCount: 0, createdOn, expireInSeconds: 65 },
    ...{ output: null, sourceCreatedOn: null, sourceRetryCount: null },
    data: { digest, name: 'buy.event.init', key: { index: 0 }, body: order(`O${number}`) },
    ...members,
  };
}

/** A pg-boss that gives out these jobs, and an inbox that handles them. */
function open(
  { jobs = [], alone = [], fetched }: { jobs?: BossJob[]; alone?: BossJob[]; fetched?: Promise<BossJob[]> },
  options: Partial<PgBossInboxOptions> = {},
  members: Partial<Boss> = {},
) {
  const calls: unknown[][] = [];
  const errors: unknown[] = [];
  const note = (...call: unknown[]) => void calls.push(call);
  const boss: Boss = {
    createQueue: async () => {},
    async insert(name, added) {
      note('insert', name, added);
      return added.map(({ id }) => id);
    },
    async fetch(_, { batchSize, maxPriority }) {
      note('fetch', batchSize);
      if (fetched !== undefined) return await fetched;
      return (maxPriority === undefined ? jobs : alone).splice(0, batchSize);
    },
    complete: async (_, ids) => note('complete', ids),
    fail: async (_, id, data) => note('fail', id, data),
    findJobs: async (_, { db }) =>
      (await db.executeSql('SELECT id FROM pgboss.job WHERE name = $1')).rows as [],
    deleteJob: async () => {},
    getDb: () => ({
      async executeSql(sql, values = []) {
        if (sql.startsWith('UPDATE')) note('UPDATE', ...values);
        if (sql.includes('SELECT state')) return { rows: [{ state: 'active' }] };
        return { rows: sql.includes('SELECT 1') && alone.length > 0 ? [{}] : [] };
      },
    }),
    ...members,
  };
  const inbox = pgBossInbox({
    ...{ boss, pollMs: 60_000, onStoreError: (error) => errors.push(error) },
    ...options,
  });
  onTestFinished(async () => void (await inbox.stop({ timeoutMs: 0 })));
  const named = (name: string) => calls.filter(([call]) => call === name).map(([, ...given]) => given);
  return { inbox, errors, named };
}

// real time: what polls gives way to others.
const shortly = () => setTimeout(5);

describe('what pg-boss gives out', () => {
  it('is handled a page at a time, without a pause while pages are full', async () => {
    const { inbox, named } = open({ jobs: [jobOf(1), jobOf(2), jobOf(3)] }, { concurrency: 1 });
    const { calls } = receiver(inbox);
    await expect.poll(() => named('complete')).toHaveLength(3);
    expect(calls).toEqual(['O1', 'O2', 'O3']);
  });

  it('is asked for again at once where a full page held nothing to handle', async () => {
    const { inbox } = open({ jobs: [jobOf(1, { data: {} }), jobOf(2)] }, { concurrency: 1 });
    const { calls } = receiver(inbox);
    await expect.poll(() => calls).toEqual(['O2']);
  });

  it('and a newer version has stored is left to that, and said', async () => {
    const newer = jobOf(1, { data: { ...Object(jobOf(1).data), version: 2 }, retryCount: 1 });
    const { inbox, errors, named } = open({ jobs: [newer] });
    const { calls } = receiver(inbox);
    await expect.poll(() => named('UPDATE')).toEqual([['partner_inbox', 'job-1', 1, 10_000]]);
    expect(errors).toMatchObject([
      { code: 'newer_format', message: expect.stringContaining('A stored delivery') },
    ]);
    expect(calls).toEqual([]);
  });

  it('and is no delivery fails, and what goes wrong with that is reported', async () => {
    const fail = vi.fn(async () => {
      throw new Error('no connection');
    });
    const { inbox, errors } = open({ jobs: [jobOf(1, { data: {} })] }, {}, { fail });
    receiver(inbox);
    await expect.poll(() => errors).toMatchObject([{ cause: { message: 'no connection' } }]);
    expect(fail).toHaveBeenCalledWith('partner_inbox', 'job-1', { reason: 'No delivery of the inbox.' });
  });

  it('and lost its lease is set apart, and not handled beside others', async () => {
    const { inbox, named } = open({ jobs: [jobOf(1, { retryCount: 1 })] });
    const { calls } = receiver(inbox);
    await expect.poll(() => named('insert')).toMatchObject([['partner_inbox', [{ priority: -1 }]]]);
    await expect.poll(() => named('complete')).toEqual([[['job-1']]]);
    expect(calls).toEqual([]);
  });

  it('to be tried alone is handled, and is a dead letter once its attempts are used up', async () => {
    const last = jobOf(1, { priority: -1, retryCount: 2, output: { reason: 'no' } });
    const lost = jobOf(2, { priority: -1, retryCount: 2 });
    const worn = jobOf(3, { priority: -1, retryCount: 3 });
    const { inbox, named } = open({ alone: [last, lost, worn] }, { maxAttempts: 3, pollMs: 5 });
    const { calls, reports } = receiver(inbox);
    await expect.poll(() => reports.at(-1)).toMatchObject({ outcome: 'dead', attempt: 3 });
    expect(calls).toEqual(['O1', 'O2']);
    expect(named('insert')).toMatchObject([
      ['partner_inbox_dead', [{ data: { attempts: 3, reason: expect.stringContaining('lease_lost') } }]],
    ]);
  });

  it('alone is left to a newer version, and fails where it is no delivery', async () => {
    const newer = jobOf(1, { priority: -1, data: { ...Object(jobOf(1).data), version: 2 } });
    const foreign = jobOf(2, { priority: -1, data: {} });
    const { inbox, named, errors } = open(
      { alone: [newer, foreign, jobOf(3, { priority: -1 })] },
      { pollMs: 5 },
    );
    receiver(inbox);
    await expect.poll(() => named('complete')).toEqual([[['job-3']]]);
    expect(named('fail')).toMatchObject([['job-2', {}]]);
    expect(named('UPDATE')[0]).toEqual(['partner_inbox', 'job-1', 0, 10_000]);
    expect(errors).toMatchObject([{ code: 'newer_format' }]);
  });

  it('alone may be nothing: another process was faster', async () => {
    const looked = vi.fn();
    const fetch: Boss['fetch'] = async (_, { maxPriority }) => {
      if (maxPriority !== undefined) looked();
      return [];
    };
    const { inbox, errors } = open({ alone: [jobOf(1)] }, { pollMs: 5, sleep: shortly }, { fetch });
    receiver(inbox);
    await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(1);
    expect(errors).toEqual([]);
  });

  it('too late for one look is taken by the next, and not asked for twice', async () => {
    const late = Promise.withResolvers<BossJob[]>();
    const asked: unknown[] = [];
    const fetch: Boss['fetch'] = (_, { maxPriority }) => {
      if (maxPriority === undefined) asked.push(maxPriority);
      return asked.length > 1 ? Promise.resolve([]) : late.promise;
    };
    const { inbox, errors, named } = open({}, { pollMs: 5, storeTimeoutMs: 10, sleep: shortly }, { fetch });
    const { calls } = receiver(inbox);
    await expect.poll(() => errors.length).toBeGreaterThan(1);
    expect(asked).toHaveLength(1);
    late.resolve([jobOf(1)]);
    await expect.poll(() => named('complete')).toEqual([[['job-1']]]);
    expect(calls).toEqual(['O1']);
  });

  it('is asked for again once the lease of a late fetch is over, whatever that one brings', async () => {
    let time = 5_000;
    vi.spyOn(performance, 'now').mockImplementation(() => time);
    onTestFinished(() => void vi.restoreAllMocks());
    const fetches: PromiseWithResolvers<BossJob[]>[] = [];
    const fetch: Boss['fetch'] = (_, { maxPriority }) => {
      if (maxPriority !== undefined || fetches.length === 3) return Promise.resolve([]);
      const fetched = Promise.withResolvers<BossJob[]>();
      fetches.push(fetched);
      return fetched.promise;
    };
    const options = { timeLimitMs: 1_500, pollMs: 5, storeTimeoutMs: 10, sleep: shortly };
    const { inbox, errors, named } = open({}, options, { fetch });
    receiver(inbox);
    const looks = async () => {
      const { length } = errors;
      await expect.poll(() => errors.length).toBeGreaterThan(length + 1);
    };
    await looks();
    time += 2_999;
    await looks();
    expect(fetches).toHaveLength(1);
    time += 1;
    await looks();
    expect(fetches).toHaveLength(2);
    time += 3_000;
    await looks();
    fetches[0]?.reject(new Error('gone'));
    await looks();
    expect(fetches).toHaveLength(3);
    fetches[2]?.resolve([jobOf(1)]);
    await expect.poll(() => named('complete')).toEqual([[['job-1']]]);
    fetches[1]?.reject(new Error('gone'));
    await nextTurn();
  });

  it('after a look that failed is asked for again', async () => {
    const fetch = vi.fn<Boss['fetch']>(async () => []);
    fetch.mockRejectedValueOnce(new Error('no connection')).mockResolvedValueOnce([jobOf(1)]);
    const { inbox, errors, named } = open({}, { pollMs: 5, sleep: shortly }, { fetch });
    receiver(inbox);
    await expect.poll(() => named('complete')).toEqual([[['job-1']]]);
    expect(errors).toMatchObject([{ cause: { message: 'no connection' } }]);
  });

  it('after the stop is given back to another process, but for what is no delivery of this version', async () => {
    const late = Promise.withResolvers<BossJob[]>();
    // real time: nothing ends before it: a busy machine only makes it later.
    const { inbox, named } = open({ fetched: late.promise }, { storeTimeoutMs: 50 });
    const { calls } = receiver(inbox);
    await expect.poll(() => named('fetch')).toHaveLength(1);
    expect(await inbox.stop({ timeoutMs: 1_000 })).toBe('drained');
    const newer = jobOf(2, { data: { ...Object(jobOf(2).data), version: 2 } });
    late.resolve([jobOf(1), newer, jobOf(3, { data: {} })]);
    await expect.poll(() => named('fail')).toEqual([['job-1', { reason: 'Cut off by a stop.' }]]);
    expect([calls, named('UPDATE')]).toEqual([[], []]);
  });
});

describe('a stop of the pg-boss inbox', () => {
  it('reports what cannot be given back', async () => {
    const late = Promise.withResolvers<BossJob[]>();
    const fail = () => Promise.reject(new Error('no connection'));
    // real time: nothing ends before it: a busy machine only makes it later.
    const { inbox, errors, named } = open({ fetched: late.promise }, { storeTimeoutMs: 50 }, { fail });
    receiver(inbox);
    await expect.poll(() => named('fetch')).toHaveLength(1);
    await inbox.stop({ timeoutMs: 0 });
    late.resolve([jobOf(1)]);
    await expect.poll(() => errors.at(-1)).toMatchObject({ cause: { message: 'no connection' } });
  });

  it('is drained before anything has begun', async () => {
    expect(await open({}, { role: 'receiver' }).inbox.stop()).toBe('drained');
  });

  it('waits for a delivery that is being stored', async () => {
    const [begun, stored] = [gate(), gate()];
    const insert: Boss['insert'] = async (_, jobs) => {
      begun.open();
      await stored.opened;
      return jobs.map(({ id }) => id);
    };
    const { inbox } = open({}, { role: 'receiver' }, { insert });
    const { webhooks } = receiver(inbox);
    const receiving = webhooks.receive(order('A'));
    await begun.opened;
    let isStopped = false;
    const stopping = inbox.stop({ timeoutMs: 5_000 }).then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    stored.open();
    expect(await receiving).toMatchObject({ kind: 'stored' });
    await stopping;
  });
});
