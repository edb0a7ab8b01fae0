import { describe, expect } from 'vitest';
import { eventually, order, receiver } from '../contract.ts';
import { engines } from '../engines.ts';
import { type PgBossTest, pgBossTests } from './pg-boss-for-tests.ts';

const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;
const quiet = { onError: () => {} };

describe.runIf(postgresHere)('the pg-boss inbox, with its dead letters,', () => {
  const test = pgBossTests();

  /** A process takes what is due, and dies; the supervision of pg-boss finds it. */
  async function dieHandling(given: PgBossTest): Promise<void> {
    await given.boss.fetch(given.queue);
    await given.changeJobs(`started_on = now() - interval '1 hour'`);
    await eventually(async () => {
      const states = (await given.boss.findJobs(given.queue)).map(({ state }) => state);
      expect(states).toContain('retry');
    });
    await given.changeJobs('start_after = now()');
  }

  test('reports a delivery as dead, once, that all its handlers died of; replayed, it has all attempts again', async (given) => {
    await receiver(given.open({ role: 'receiver' })).webhooks.receive(order('A'));
    // Among others, for all that is known: it is tried again alone.
    await dieHandling(given);
    await given.isolate();
    await dieHandling(given);
    await dieHandling(given);
    const inbox = given.open({ maxAttempts: 2 });
    const errors: unknown[] = [];
    const { webhooks, reports, calls } = receiver(inbox, undefined, {
      onError: (error) => errors.push(error),
    });
    await eventually(() => expect(reports).toMatchObject([{ stage: 'handle', outcome: 'dead', attempt: 2 }]));
    expect(errors).toMatchObject([{ code: 'lease_lost' }]);
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    const [deadLetter] = await inbox.deadLetters();
    expect(deadLetter).toMatchObject({ attempts: 2, reason: expect.stringContaining('died') });
    expect(calls).toEqual([]);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    await inbox.replay(deadLetter?.digest ?? '');
    await eventually(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled', attempt: 1 }));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect(reports.filter(({ outcome }) => outcome === 'dead')).toHaveLength(1);
  });

  for (const how of ['broke off half way', 'was not answered']) {
    test(`makes one dead letter of a delivery, though the move ${how}`, async (given) => {
      let broken = true;
      const half = given.withOwn('complete', async (...call) => {
        const breaks = broken;
        broken = false;
        if (how === 'was not answered' || !breaks) await given.boss.complete(...call);
        if (breaks) throw new Error('gone');
      });
      const inbox = given.open({ boss: half, maxAttempts: 1, onStoreError: () => {} });
      const { webhooks, reports } = receiver(inbox, () => Promise.reject(new Error('no')), quiet);
      await webhooks.receive(order('A'));
      await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
      await eventually(() => expect(reports.map(({ outcome }) => outcome)).toEqual(['stored', 'dead']));
      expect(await inbox.deadLetters()).toMatchObject([{ attempts: 1, reason: 'Error: no' }]);
    });
  }

  test('replays a dead letter once, though twice at a time, and though it broke off half way', async (given) => {
    let broken = true;
    const half = given.withOwn('deleteJob', async (...call) => {
      if (broken) {
        broken = false;
        throw new Error('gone');
      }
      return await given.boss.deleteJob(...call);
    });
    const poison = new Set(['A']);
    const inbox = given.open({ boss: half, maxAttempts: 1 });
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

  test('counts what is there now, and reads no more dead letters than asked for, without their bodies', async (given) => {
    const read: unknown[][] = [];
    const watched = given.withOwn('getDb', () => ({
      async executeSql(...call) {
        const result = await given.boss.getDb().executeSql(...call);
        read.push(result.rows);
        return result;
      },
    }));
    const inbox = given.open({ maxAttempts: 1 });
    // Has no worker, which would read too.
    const listing = given.open({ boss: watched, role: 'receiver' });
    const receiving = receiver(given.open({ role: 'receiver' }));
    for (const [index, id] of ['A', 'B', 'C', 'D'].entries()) {
      await receiving.webhooks.receive(order(id));
      expect(await inbox.counts()).toEqual({ open: index + 1, dead: 0 });
    }
    const { calls } = receiver(inbox, () => Promise.reject(new Error('no')), { ...quiet });
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 4 }));
    // Finds the queues and their tables.
    await listing.counts();
    read.splice(0);
    const listed = await listing.deadLetters({ limit: 2 });
    expect(listed).toHaveLength(2);
    expect(read.map((rows) => rows.length)).toEqual([2]);
    expect(JSON.stringify(read)).not.toContain('partner_order_id');
    expect(calls).toHaveLength(4);
    const all = await inbox.deadLetters();
    expect(all.slice(0, 2)).toEqual(listed);
    await inbox.discard(listed[0]?.digest ?? '');
    expect(await inbox.counts()).toEqual({ open: 0, dead: 3 });
  });

  test('lists, replays and discards also what pg-boss itself moved to the dead letters', async (given) => {
    const inbox = given.open({ role: 'receiver' });
    await receiver(inbox).webhooks.receive(order('A'));
    const [stored] = await given.boss.findJobs<object>(given.queue);
    await given.boss.send(given.queue, stored?.data, { retryLimit: 0, priority: 1 });
    await given.boss.send(given.queue, { some: 'thing' }, { retryLimit: 0, priority: 1 });
    for (const { id } of await given.boss.fetch(given.queue, { batchSize: 2 }))
      await given.boss.fail(given.queue, id, { reason: 'moved' });
    const listed = await inbox.deadLetters();
    expect(listed).toMatchObject([{ attempts: 1, reason: 'moved', name: 'event.buy.init' }]);
    expect(await inbox.replay(listed[0]?.digest ?? '')).toBe(true);
    expect(await inbox.deadLetters()).toEqual([]);
    expect((await inbox.counts()).open).toBe(2);
  });
});
