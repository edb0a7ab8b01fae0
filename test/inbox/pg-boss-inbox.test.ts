import type { PgBoss } from 'pg-boss';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { checkHandling } from '../../src/inbox/handling-options.ts';
import type { ManagedInbox } from '../../src/inbox/managed-inbox.ts';
import { type PgBossInboxOptions, pgBossInbox } from '../../src/inbox/pg-boss/pg-boss-inbox.ts';
import { pgBossStore, toTaken } from '../../src/inbox/pg-boss/pg-boss-store.ts';
import type { Boss } from '../../src/inbox/pg-boss/pg-boss-types.ts';
import { refusal } from '../errors/refusal.ts';
import { eventually, order, quick, receiver } from './contract.ts';
import { engines, startBoss } from './engines.ts';

const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;
const schema = `pex_boss_${process.pid}_${Date.now()}`;
const quiet = { onError: () => {} };

it('takes a pg-boss as it is', () => expectTypeOf<PgBoss>().toExtend<Boss>());

it.each([
  { timeLimitMs: 24 * 60 * 60 * 1000 },
  { rememberMs: 2 ** 31 * 1000 },
  { retryFirstMs: 2 ** 31 * 1000 },
  { retryMaxMs: 2 ** 31 * 1000 },
])('refuses %j, which pg-boss would refuse of each delivery', (wrong) => {
  const boss = { send: async () => null } as unknown as Boss;
  expect(refusal(() => pgBossInbox({ boss, ...wrong }))).toBe('ConfigurationError invalid_option');
});

describe.runIf(postgresHere)('the pg-boss inbox', () => {
  let boss: PgBoss;
  let queue: string;
  let opened = 0;
  const inboxes: ManagedInbox[] = [];
  beforeAll(async () => {
    boss = await startBoss(schema);
  });
  beforeEach(() => {
    queue = `inbox${opened++}`;
  });
  afterEach(async () => {
    await Promise.all(inboxes.splice(0).map((inbox) => inbox.stop({ timeoutMs: 100 })));
  });
  afterAll(async () => {
    await boss.getDb().executeSql(`DROP SCHEMA ${schema} CASCADE`);
    await boss.stop({ graceful: false });
  });

  function open(options: Partial<PgBossInboxOptions> = {}): ManagedInbox {
    const inbox = pgBossInbox({ boss, queue, ...quick, pollMs: 50, ...options });
    inboxes.push(inbox);
    return inbox;
  }

  /** The same pg-boss, with one method of ours. */
  function withOwn<Method extends keyof Boss>(method: Method, own: Boss[Method]): Boss {
    return new Proxy<Boss>(boss, {
      get(target, name) {
        if (name === method) return own;
        // Methods of a class with private members.
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** A process takes what is due, and dies; the supervision of pg-boss finds it. */
  async function dieHandling(): Promise<void> {
    await boss.fetch(queue);
    const sql = (text: string) => boss.getDb().executeSql(`${text} WHERE name = $1`, [queue]);
    await sql(`UPDATE ${schema}.job SET started_on = now() - interval '1 hour'`);
    await eventually(async () => expect((await boss.findJobs(queue))[0]?.state).toBe('retry'));
    await sql(`UPDATE ${schema}.job SET start_after = now()`);
  }

  it('reports a delivery as dead, once, that all its handlers died of; replayed, it has all attempts again', async () => {
    await receiver(open({ handles: 'elsewhere' })).webhooks.receive(order('A'));
    await dieHandling();
    await dieHandling();
    const inbox = open({ maxAttempts: 2 });
    const errors: unknown[] = [];
    const { webhooks, reports, calls } = receiver(inbox, undefined, {
      onError: (error) => errors.push(error),
    });
    await eventually(() => expect(reports).toMatchObject([{ stage: 'handle', fate: 'dead', attempt: 2 }]));
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
    expect(await inbox.counts()).toEqual({ open: 0, dead: 1 });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ attempts: 2, reason: expect.stringContaining('died') });
    expect(calls).toEqual([]);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    await inbox.replay(letter?.digest ?? '');
    await eventually(() => expect(reports.at(-1)).toMatchObject({ fate: 'handled', attempt: 1 }));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(reports.filter(({ fate }) => fate === 'dead')).toHaveLength(1);
  });

  it('gives up a delivery that was cut off by a stop at its last attempt, and reports it', async () => {
    const first = open({ maxAttempts: 1, timeLimitMs: 5_000 });
    const begun = Promise.withResolvers<void>();
    const { webhooks } = receiver(first, () => {
      begun.resolve();
      return new Promise(() => {});
    });
    await webhooks.receive(order('A'));
    await begun.promise;
    expect(await first.stop({ timeoutMs: 20 })).toBe('cut-off');
    const { reports } = receiver(open({ maxAttempts: 1 }), undefined, quiet);
    await eventually(() => expect(reports).toMatchObject([{ fate: 'dead', attempt: 1 }]));
  });

  it('buries a delivery once, whose burial broke off half way', async () => {
    let broken = true;
    const half = withOwn('complete', async (...call) => {
      if (broken) {
        broken = false;
        throw new Error('gone');
      }
      return await boss.complete(...call);
    });
    const inbox = open({ boss: half, maxAttempts: 1, onStoreError: () => {} });
    const { webhooks, reports } = receiver(inbox, () => Promise.reject(new Error('no')), quiet);
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    await eventually(() => expect(reports.map(({ fate }) => fate)).toEqual(['stored', 'dead']));
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 1, reason: 'Error: no' }]);
  });

  it('replays a dead letter once, though twice at a time, and though it broke off half way', async () => {
    let broken = true;
    const half = withOwn('deleteJob', async (...call) => {
      if (broken) {
        broken = false;
        throw new Error('gone');
      }
      return await boss.deleteJob(...call);
    });
    const poison = new Set(['A']);
    const inbox = open({ boss: half, maxAttempts: 1 });
    const { webhooks, calls } = receiver(
      inbox,
      (id) => {
        if (poison.has(id)) throw new Error('no');
      },
      quiet,
    );
    await webhooks.receive(order('A'));
    await eventually(async () => expect((await inbox.counts()).dead).toBe(1));
    poison.clear();
    const [{ digest } = { digest: '' }] = await inbox.deadLetters();
    await expect(inbox.replay(digest)).rejects.toMatchObject({ code: 'store_unavailable' });
    await eventually(() => expect(calls).toEqual(['A', 'A']));
    await Promise.all([inbox.replay(digest), inbox.replay(digest)]);
    await webhooks.receive(order('B'));
    await eventually(() => expect(calls).toEqual(['A', 'A', 'B']));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
    expect(await inbox.replay(digest)).toBe(false);
  });

  it('forgets what was handled when its time is over, and neither a dead letter nor what is open', async () => {
    const inbox = open({ maxAttempts: 1, rememberMs: 2_000 });
    const first = receiver(
      inbox,
      (id) => {
        if (id === 'dead') throw new Error('no');
      },
      quiet,
    );
    await first.webhooks.receive(order('handled'));
    await first.webhooks.receive(order('dead'));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    expect(await first.webhooks.receive(order('handled'))).toMatchObject({ kind: 'duplicate' });
    await inbox.stop();
    const { webhooks } = receiver(open({ handles: 'elsewhere', rememberMs: 2_000 }));
    await webhooks.receive(order('open'));
    // Deleted by the maintenance of pg-boss.
    await eventually(async () => expect(await boss.findJobs(queue)).toHaveLength(1));
    expect(await webhooks.receive(order('open'))).toMatchObject({ kind: 'duplicate' });
    expect(await webhooks.receive(order('handled'))).toMatchObject({ kind: 'stored' });
    expect(await inbox.counts()).toEqual({ open: 2, dead: 1 });
    expect(await inbox.deadLetters()).toMatchObject([{ reason: 'Error: no' }]);
  });

  it('counts what is there now, and reads no more dead letters than asked for, without their bodies', async () => {
    const read: object[][] = [];
    const watched = withOwn('findJobs', async (...call) => {
      const rows = await boss.findJobs(...call);
      read.push(rows);
      return rows;
    });
    const inbox = open({ boss: watched, maxAttempts: 1 });
    const receiving = receiver(open({ handles: 'elsewhere' }));
    for (const [index, id] of ['A', 'B', 'C', 'D'].entries()) {
      await receiving.webhooks.receive(order(id));
      expect(await inbox.counts()).toEqual({ open: index + 1, dead: 0 });
    }
    const { calls } = receiver(inbox, () => Promise.reject(new Error('no')), { ...quiet });
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 4 }));
    read.splice(0);
    const letters = await inbox.deadLetters({ limit: 2 });
    expect(letters).toHaveLength(2);
    expect(read.map((rows) => rows.length)).toEqual([2]);
    expect(JSON.stringify(read)).not.toContain('partner_order_id');
    expect(calls).toHaveLength(4);
    const all = await inbox.deadLetters();
    expect(all.slice(0, 2)).toEqual(letters);
    await inbox.discard(letters[0]?.digest ?? '');
    expect(await inbox.counts()).toEqual({ open: 0, dead: 3 });
  });

  it('does not take a delivery for a duplicate that pg-boss did not store', async () => {
    await boss.createQueue(queue, { policy: 'short' });
    const { webhooks } = receiver(open({ handles: 'elsewhere' }), undefined, quiet);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    // The policy allows one waiting job.
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'unavailable', status: 503 });
  });

  it('makes its queues again that somebody deleted, and acknowledges nothing meanwhile', async () => {
    const { webhooks } = receiver(open({ handles: 'elsewhere' }), undefined, quiet);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    // By another process: this one does not learn of it.
    await boss.getDb().executeSql(`SELECT ${schema}.delete_queue($1)`, [queue]);
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'unavailable', status: 503 });
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'stored' });
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'duplicate' });
  });

  it('handles what a slow fetch took, at its first attempt', async () => {
    const slow = withOwn('fetch', async (...call) => {
      const jobs = await boss.fetch(...call);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return jobs;
    });
    const inbox = open({ boss: slow, storeTimeoutMs: 100, timeLimitMs: 5_000, onStoreError: () => {} });
    const { webhooks, reports } = receiver(inbox);
    await webhooks.receive(order('A'));
    await eventually(() => expect(reports.at(-1)).toMatchObject({ fate: 'handled', attempt: 1 }));
  });

  it('does not wait for ever for a fetch that never ends', async () => {
    let fetches = 0;
    const hung = withOwn('fetch', async (...call) =>
      fetches++ === 0 ? await new Promise(() => {}) : await boss.fetch(...call),
    );
    const options = { storeTimeoutMs: 50, timeLimitMs: 100, onStoreError: () => {} };
    const { webhooks, calls } = receiver(open({ boss: hung, ...options }));
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    expect(fetches).toBeGreaterThan(1);
  });

  it('writes down what it handled though no more deliveries may wait for the store', async () => {
    let hangs = false;
    const busy = withOwn('send', async (...call) => {
      if (hangs) await new Promise((resolve) => setTimeout(resolve, 2_000));
      return await boss.send(...call);
    });
    const end = Promise.withResolvers<void>();
    const inbox = open({ boss: busy, maxPending: 1, timeLimitMs: 5_000 });
    const { webhooks, calls } = receiver(inbox, () => end.promise, quiet);
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    hangs = true;
    const waiting = webhooks.receive(order('B'));
    end.resolve();
    await eventually(async () => expect((await boss.findJobs(queue))[0]?.state).toBe('completed'));
    expect(await webhooks.receive(order('C'))).toMatchObject({ status: 503 });
    expect(await waiting).toMatchObject({ kind: 'stored' });
  });

  it('leaves a delivery alone whose lease another worker has', async () => {
    await receiver(open({ handles: 'elsewhere' })).webhooks.receive(order('A'));
    const store = pgBossStore(boss, queue, checkHandling(quick));
    const [late] = (await store.take(1)).map(toTaken);
    if (late === undefined) throw new Error('Nothing was taken.');
    const [job] = await boss.findJobs(queue);
    await boss.fail(queue, job?.id ?? '');
    await boss.getDb().executeSql(`UPDATE ${schema}.job SET start_after = now() WHERE name = $1`, [queue]);
    const [current] = (await store.take(1)).map(toTaken);
    expect([late.attempt, current?.attempt]).toEqual([1, 2]);
    expect(await store.postpone(late, 'late')).toBe(false);
    expect(await store.bury(late, { attempts: 1, reason: 'late' })).toBe(false);
    expect(await boss.findJobs(queue)).toMatchObject([{ state: 'active', retryCount: 1 }]);
    expect(await store.counts()).toEqual({ open: 1, dead: 0 });
  });

  it('lists, replays and discards also what pg-boss itself moved to the dead letters', async () => {
    const inbox = open({ handles: 'elsewhere' });
    await receiver(inbox).webhooks.receive(order('A'));
    const [stored] = await boss.findJobs<object>(queue);
    await boss.send(queue, stored?.data, { retryLimit: 0, priority: 1 });
    await boss.send(queue, { some: 'thing' }, { retryLimit: 0, priority: 1 });
    for (const { id } of await boss.fetch(queue, { batchSize: 2 }))
      await boss.fail(queue, id, { reason: 'moved' });
    const letters = await inbox.deadLetters();
    expect(letters).toMatchObject([{ attempts: 1, reason: 'moved', name: 'event.buy.init' }]);
    expect(await inbox.replay(letters[0]?.digest ?? '')).toBe(true);
    expect(await inbox.deadLetters()).toEqual([]);
    expect((await inbox.counts()).open).toBe(2);
  });
});
