import { describe, expect } from 'vitest';
import { eventually, order, receiver } from '../contract.ts';
import { engines } from '../engines.ts';
import { type PgBossTest, pgBossTests } from './pg-boss-for-tests.ts';

const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;
const quiet = { onError: () => {} };

/** Since 12.38 pg-boss's own search returns the oldest 1,000 jobs: everything here is newer than what is remembered. */
describe.runIf(postgresHere)('a pg-boss inbox that remembers 5,000 deliveries', () => {
  const test = pgBossTests();

  async function fill(given: PgBossTest): Promise<void> {
    const first = given.open({ role: 'receiver' });
    // Makes its queues.
    await first.counts();
    await given.boss.getDb().executeSql(
      `INSERT INTO ${given.schema}.job (name, id, state, data, created_on, completed_on, deletion_seconds)
       SELECT $1, gen_random_uuid(), 'completed', '{"handled":true}', now() - interval '1 day', now(), 1000000
       FROM generate_series(1, 5000)`,
      [given.queue],
    );
  }

  test('handles what a dead process had in hand', async (given) => {
    await fill(given);
    const { webhooks } = receiver(given.open({ role: 'receiver' }));
    for (const id of ['A', 'B', 'C']) await webhooks.receive(order(id));
    // A process that takes them, and dies; the supervision of pg-boss finds that.
    expect(await given.boss.fetch(given.queue, { batchSize: 3 })).toHaveLength(3);
    await given.changeJobs(`started_on = now() - interval '1 hour'`, 'active');
    const inbox = given.open();
    await eventually(async () => {
      await given.changeJobs('start_after = now()', 'retry');
      expect(await inbox.counts()).toEqual({ open: 3, dead: 0 });
    });
    const { calls } = receiver(inbox);
    await eventually(async () => {
      await given.changeJobs('start_after = now()', 'retry');
      expect(calls.toSorted()).toEqual(['A', 'B', 'C']);
    });
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
  });

  test('counts what waits and what is being handled', async (given) => {
    await fill(given);
    const inbox = given.open({ role: 'receiver' });
    const { webhooks } = receiver(inbox);
    await webhooks.receive(order('A'));
    await webhooks.receive(order('B'));
    await given.boss.fetch(given.queue);
    expect(await inbox.counts()).toEqual({ open: 2, dead: 0 });
  });

  test('acknowledges a repetition', async (given) => {
    await fill(given);
    const { webhooks } = receiver(given.open({ role: 'receiver' }), undefined, quiet);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate', status: 200 });
  });

  test('tries again what failed, and makes a dead letter of it in the end', async (given) => {
    await fill(given);
    const inbox = given.open({ maxAttempts: 2 });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')), quiet);
    await webhooks.receive(order('A'));
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 1 }));
    expect(calls).toEqual(['A', 'A']);
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 2, reason: 'Error: no' }]);
  });
});

describe.runIf(postgresHere)('a pg-boss inbox with 1,500 dead letters', () => {
  const test = pgBossTests();

  test('lists, reads and discards each of them', async (given) => {
    const inbox = given.open({ role: 'receiver' });
    await inbox.counts();
    await given.boss.getDb().executeSql(
      `INSERT INTO ${given.schema}.job (name, id, data, created_on)
       SELECT $1, gen_random_uuid(), jsonb_build_object('digest', 'digest ' || n, 'name', 'event.buy.init',
         'key', jsonb_build_object('index', 0), 'body', '{}', 'attempts', 3, 'reason', 'no'), now() + n * interval '1 s'
       FROM generate_series(1, 1500) AS n`,
      [`${given.queue}_dead`],
    );
    expect(await inbox.counts()).toEqual({ open: 0, dead: 1_500 });
    const listed = await inbox.deadLetters({ limit: 2_000 });
    expect(listed).toHaveLength(1_500);
    expect(listed.at(-1)).toMatchObject({ digest: 'digest 1500', attempts: 3 });
    expect(await inbox.deadLetter('digest 1500', { withBody: true })).toMatchObject({ body: '{}' });
    expect(await inbox.discard('digest 1500')).toBe(true);
    expect(await inbox.counts()).toEqual({ open: 0, dead: 1_499 });
  });
});
