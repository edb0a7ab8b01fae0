import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PgBossInboxOptions, pgBossInbox } from '../../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss, NewBossJob } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { thrownBy } from '../../support/refusal.ts';
import { quietWebhooks } from '../../webhooks/deliveries.ts';
import { order, receiver } from '../contract.ts';

const digest = 'ab'.repeat(32);
const received = { digest, name: 'event.x', key: { index: 0 }, body: '{}' };
const createdOn = new Date(1_800_000_000_000);

/** A pg-boss whose jobs are lists, and whose database answers as the test says. */
function open(
  options: Partial<PgBossInboxOptions> = {},
  answer: (sql: string, values: readonly unknown[]) => object[] = () => [],
) {
  const calls: unknown[][] = [];
  const waiting: NewBossJob[] = [];
  const note =
    (name: string) =>
    async (...given: unknown[]) =>
      void calls.push([name, ...given]);
  const boss: Boss = {
    createQueue: (name) => note('createQueue')(name),
    async insert(name, jobs) {
      if (name === 'partner_inbox') waiting.push(...jobs);
      else calls.push(['insert', name, jobs]);
      return jobs.map(({ id }) => id);
    },
    async fetch(_, { maxPriority }) {
      if (maxPriority !== undefined) return [];
      const metadata = { state: 'active', priority: 0, retryCount: 0, createdOn, output: null };
      const source = { sourceCreatedOn: null, sourceRetryCount: null };
      return waiting.splice(0).map((job) => ({ ...job, ...metadata, ...source }));
    },
    complete: note('complete'),
    fail: note('fail'),
    async findJobs(_, { db }) {
      await db.executeSql('SELECT id FROM pgboss.job WHERE name = $1');
      return [];
    },
    deleteJob: note('deleteJob'),
    getDb: () => ({ executeSql: async (sql, values = []) => ({ rows: answer(sql, values) }) }),
  };
  const inbox = pgBossInbox({ boss, now: () => createdOn.getTime(), ...options });
  return { inbox, boss, calls, waiting, named: (name: string) => calls.filter(([call]) => call === name) };
}

const isActive = (sql: string) => (sql.includes('SELECT state') ? [{ state: 'active' }] : []);

describe('the pg-boss inbox', () => {
  it.each<[string, Partial<PgBossInboxOptions>]>([
    ['timeLimitMs', { timeLimitMs: 24 * 60 * 60 * 1000 - 4_999 }],
    ['retry.firstDelayMs', { retry: { firstDelayMs: 2 ** 31 * 1000 } }],
    ['retry.maxDelayMs', { retry: { maxDelayMs: 2 ** 31 * 1000 } }],
    ['rememberMs', { rememberMs: 2 ** 31 * 1000 }],
  ])('refuses a %s that pg-boss has no room for', (name, options) => {
    const error = thrownBy(() => open(options));
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(`^${name} must be`),
    });
  });

  it('takes a lease of 24 hours, and times that fit into the columns of pg-boss', () => {
    const most = (2 ** 31 - 1) * 1000;
    const retry = { firstDelayMs: most, maxDelayMs: most };
    open({ timeLimitMs: 24 * 60 * 60 * 1000 - 5_000, rememberMs: most, retry });
  });

  it('handles a delivery as soon as it is stored, and completes its job', async () => {
    const { inbox, named } = open({ pollMs: 60_000 }, isActive);
    const { webhooks, calls } = receiver(inbox);
    // The first look for deliveries has found none.
    await nextTurn();
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    await expect.poll(() => named('complete')).toHaveLength(1);
    expect(calls).toEqual(['A']);
    expect(await inbox.stop()).toBe('drained');
  });

  it('has a failed delivery tried again by pg-boss', async () => {
    const { inbox, named } = open({}, isActive);
    const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    await expect
      .poll(() => named('fail'))
      .toEqual([['fail', 'partner_inbox', expect.any(String), { reason: 'Error: no' }]]);
    await inbox.stop();
  });

  it('makes a dead letter of the last attempt, before the job is completed', async () => {
    const { inbox, calls, named } = open({ maxAttempts: 1 }, isActive);
    const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no')));
    await webhooks.receive(order('A'));
    await expect.poll(() => named('complete')).toHaveLength(1);
    const data = expect.objectContaining({ body: order('A'), attempts: 1, reason: 'Error: no' });
    expect(calls.slice(-2)).toEqual([
      ['insert', 'partner_inbox_dead', [expect.objectContaining({ data })]],
      ['complete', 'partner_inbox', [expect.any(String)], null, { includeQueued: true }],
    ]);
    await inbox.stop();
  });

  it('puts a delivery back that no handler wants yet', async () => {
    const updates: unknown[][] = [];
    const { inbox, named } = open({}, (sql, values) => {
      if (sql.startsWith('UPDATE')) updates.push([...values]);
      return isActive(sql);
    });
    const webhooks = quietWebhooks({ inbox }).on('buy.event.close', () => {});
    await webhooks.receive(order('A'));
    await expect.poll(() => updates).toHaveLength(1);
    expect(updates[0]?.slice(3)).toEqual([1_000, '{"attempts":-1}', '{"reason":"No handler."}']);
    expect([named('fail'), named('complete')]).toEqual([[], []]);
    await inbox.stop();
  });

  it('has no quarantine reviewed after its stop', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { inbox } = open();
    const review = vi.fn(async () => {});
    inbox.attach?.({ hasHandlers: false, review, handle: async () => 'handled', report: () => {} });
    vi.advanceTimersByTime(2_000);
    await inbox.stop();
    vi.advanceTimersByTime(10_000);
    expect(review).toHaveBeenCalledTimes(1);
  });

  it('makes its queues again after a job was not stored', async () => {
    const { inbox, boss, named } = open({ role: 'receiver' });
    const refused = '0'.repeat(64);
    const { insert } = boss;
    boss.insert = async (name, jobs, options) =>
      ((await insert(name, jobs, options)) ?? []).filter((id) => !id.startsWith('00000000'));
    const handle = async () => 'handled' as const;
    const both = [inbox.receive(received, handle), inbox.receive({ ...received, digest: refused }, handle)];
    expect(await Promise.allSettled(both)).toMatchObject([
      { value: 'stored' },
      { reason: { code: 'store_unavailable' } },
    ]);
    expect(named('createQueue')).toHaveLength(2);
    await inbox.receive({ ...received, digest: 'cd'.repeat(32) }, handle);
    expect(named('createQueue')).toHaveLength(4);
  });

  it('counts and lists from the database, and asks it for dead letters by their digest', async () => {
    const dead = { id: 'd-1', data: { ...received, attempts: 3, reason: 'no' }, createdOn };
    const { inbox, named } = open({ role: 'receiver' }, (sql, values) => {
      if (sql.includes('UNION ALL')) return [{ number: '2' }, { number: '1' }];
      if (sql.includes('count(*)')) return [{ number: '4' }];
      if (sql.includes('epoch')) return [{ at: String(createdOn.getTime() - 500) }];
      return values[1] === undefined || values[1] === digest ? [dead] : [];
    });
    expect(await inbox.counts()).toEqual({ open: 3, dead: 4, quarantined: 4 });
    expect(await inbox.health()).toMatchObject({ oldestAgeMs: 500 });
    const letter = { digest, name: 'event.x', attempts: 3, receivedAt: createdOn, reason: 'no' };
    expect(await inbox.deadLetters()).toEqual([letter]);
    expect(await inbox.deadLetter(digest, { withBody: true })).toEqual({ ...letter, body: '{}' });
    expect([await inbox.replay('other'), await inbox.discard('other')]).toEqual([false, false]);
    expect([await inbox.replay(digest), await inbox.discard(digest)]).toEqual([true, true]);
    expect(named('deleteJob')).toEqual([
      ['deleteJob', 'partner_inbox_dead', 'd-1'],
      ['deleteJob', 'partner_inbox_dead', ['d-1']],
    ]);
  });

  it.each([
    ['beside others', undefined, 0],
    ['alone, as it was before', true, -1],
  ])('replays a dead letter %s, with what a newer version has added', async (_, alone, priority) => {
    const data = { ...received, attempts: 3, reason: 'no', receivedAt: 5, alone, more: 1 };
    const { inbox, waiting } = open({ role: 'receiver' }, () => [{ id: 'd-1', data, createdOn }]);
    expect(await inbox.replay(digest)).toBe(true);
    expect(await inbox.replay(digest)).toBe(true);
    const [first, second] = waiting;
    expect(first).toMatchObject({ priority, expireInSeconds: 65 });
    expect(first?.data).toEqual({ ...received, receivedAt: 5, more: 1 });
    // The same job, so that two processes replay it once.
    expect(first?.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(second?.id).toBe(first?.id);
  });

  it('leaves dead letters of a newer version as they are', async () => {
    const data = { ...received, version: 2 };
    const { inbox, named } = open({ role: 'receiver' }, () => [{ id: 'd-1', data, createdOn }]);
    expect(await inbox.deadLetters()).toEqual([]);
    await expect(inbox.discard(digest)).rejects.toThrow('The dead letter is in the form of a newer version');
    expect(named('deleteJob')).toEqual([]);
  });

  it('reads no body that is not asked for, and no age where nothing is open', async () => {
    const searches: string[] = [];
    const { inbox } = open({ role: 'receiver' }, (sql) => {
      searches.push(sql);
      return sql.includes('epoch') ? [{ at: null }] : [];
    });
    expect(await inbox.health()).toMatchObject({ open: 0, oldestAgeMs: null });
    searches.length = 0;
    for (const withBody of [false, true]) await inbox.deadLetters({ limit: 7, withBody });
    expect(searches.map((sql) => sql.includes(`'{"body":""}'`))).toEqual([true, false]);
    expect(searches.filter((sql) => !sql.endsWith('LIMIT 7'))).toEqual([]);
  });

  it.each(['completed', 'retry'])(
    'makes no second dead letter of a job that is in the state %s by now',
    async (state) => {
      const states: string[] = [];
      const { inbox, named } = open({ maxAttempts: 1 }, (sql) => {
        if (!sql.includes('SELECT state')) return [];
        states.push(state);
        return [{ state }];
      });
      const { webhooks } = receiver(inbox, () => Promise.reject(new Error('no')));
      await webhooks.receive(order('A'));
      await expect.poll(() => states).toEqual([state]);
      await inbox.stop();
      expect([named('insert'), named('complete')]).toEqual([[], []]);
    },
  );
});
