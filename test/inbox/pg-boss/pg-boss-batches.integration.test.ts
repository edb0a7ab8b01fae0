import { inspect } from 'node:util';
import { describe, expect } from 'vitest';
import type { Delivery } from '../../../src/inbox/inbox.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { gate } from '../../webhooks/deliveries.ts';
import { eventually, order, receiver } from '../contract.ts';
import { engines } from '../engines.ts';
import { type PgBossTest, pgBossTests } from './pg-boss-for-tests.ts';

const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;
const quiet = { onError: () => {} };
const ids = Array.from({ length: 40 }, (_, index) => `order ${index}`);

/** As `createWebhooks` hands it over; what is not in it makes no difference here. */
function deliveryOf(digit: string, body: string): Delivery {
  return { digest: digit.repeat(64), name: 'event.buy.init', key: { index: 0 }, body };
}

describe.runIf(postgresHere)('deliveries of the pg-boss inbox that come together', () => {
  const test = pgBossTests();

  /** pg-boss, and how many jobs each call of a method was about. */
  function watch(given: PgBossTest, method: 'insert' | 'complete') {
    const sizes: number[] = [];
    const boss = given.withOwn(method, async (...call: unknown[]) => {
      sizes.push([call[1]].flat().length);
      // Sound: it is called as the method is.
      return await Reflect.apply(given.boss[method], given.boss, call);
    });
    return { boss, sizes };
  }

  test('are stored together and marked as handled together', async (given) => {
    const storing = watch(given, 'insert');
    const { webhooks } = receiver(given.open({ boss: storing.boss, role: 'receiver' }));
    const outcomes = await Promise.all(ids.map((id) => webhooks.receive(order(id))));
    expect(outcomes.filter(({ kind }) => kind !== 'stored')).toEqual([]);
    expect(storing.sizes).toEqual([ids.length]);
    const handling = watch(given, 'complete');
    const inbox = given.open({ boss: handling.boss, concurrency: ids.length });
    const { calls } = receiver(inbox);
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
    expect(calls.toSorted()).toEqual(ids.toSorted());
    expect(handling.sizes.reduce((sum, size) => sum + size, 0)).toBe(ids.length);
    expect(handling.sizes.length).toBeLessThan(ids.length / 4);
  });

  test('are stored without the one that PostgreSQL refuses, which fails alone', async (given) => {
    const inbox = given.open({ role: 'receiver' });
    const all = [...'0123456789'].map((digit) => deliveryOf(digit, digit === '4' ? 'A-1001 \0' : '{}'));
    const results = await Promise.allSettled(
      all.map((delivery) => inbox.receive(delivery, async () => 'handled')),
    );
    for (const [index, result] of results.entries()) {
      expect(result).toMatchObject(
        index === 4 ? { reason: { code: 'store_unavailable' } } : { value: 'stored' },
      );
    }
    expect(await inbox.counts()).toEqual({ open: 9, dead: 0 });
    // PostgreSQL quotes it.
    expect(inspect(results, { depth: null, showHidden: true })).not.toContain('A-1001');
  });

  test('are each told apart: new, the same twice at once, and known before', async (given) => {
    const { webhooks } = receiver(given.open({ role: 'receiver' }));
    await webhooks.receive(order('known'));
    const sent = ['known', 'new', 'twice', 'twice', 'other'];
    const outcomes = await Promise.all(sent.map((id) => webhooks.receive(order(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'duplicate',
      'stored',
      'stored',
      'duplicate',
      'stored',
    ]);
  });

  test('are each refused that the queue does not take, and no other', async (given) => {
    // One job may wait.
    await given.boss.createQueue(given.queue, { policy: 'short' });
    const { webhooks } = receiver(given.open({ role: 'receiver' }), undefined, quiet);
    const outcomes = await Promise.all(['A', 'B', 'C'].map((id) => webhooks.receive(order(id))));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['stored', 'unavailable', 'unavailable']);
  });

  test('are acknowledged only when PostgreSQL has committed them', async (given) => {
    const committed = gate();
    const slow = given.withOwn('insert', async (...call) => {
      const stored = await given.boss.insert(...call);
      await committed.opened;
      return stored;
    });
    const { webhooks } = receiver(given.open({ boss: slow, role: 'receiver' }));
    let answered = 0;
    const outcomes = ['A', 'B'].map((id) => webhooks.receive(order(id)).finally(() => answered++));
    await eventually(async () => expect(await given.boss.findJobs(given.queue)).toHaveLength(2));
    expect(answered).toBe(0);
    committed.open();
    expect(await Promise.all(outcomes)).toMatchObject([{ kind: 'stored' }, { kind: 'stored' }]);
  });

  test('do not wait for those of another process that got them in another order', async (given) => {
    const failed: unknown[] = [];
    const watched = given.withOwn('insert', (...call) =>
      given.boss.insert(...call).catch((error) => {
        failed.push(error);
        throw error;
      }),
    );
    const open = () => receiver(given.open({ boss: watched, role: 'receiver' })).webhooks;
    const [one, other] = [open(), open()];
    for (let round = 0; round < 20; round++) {
      const bodies = ids.map((id) => order(`${id} of round ${round}`));
      const outcomes = await Promise.all([
        ...bodies.map((body) => one.receive(body)),
        ...bodies.toReversed().map((body) => other.receive(body)),
      ]);
      expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(ids.length);
      expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    }
    expect(failed).toEqual([]);
  });

  test('are stored and acknowledged before a stop ends, also those that no batch had begun with', async (given) => {
    const slow = given.withOwn('insert', async (...call) => {
      // real time: the stop begins meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return await given.boss.insert(...call);
    });
    const inbox = given.open({ boss: slow, role: 'receiver' });
    const { webhooks } = receiver(inbox);
    await inbox.counts();
    const kinds: string[] = [];
    const all = Array.from({ length: 250 }, (_, index) => webhooks.receive(order(`order ${index}`)));
    for (const one of all) void one.then(({ kind }) => kinds.push(kind));
    // All of them have reached the inbox.
    await nextTurn();
    await inbox.stop();
    expect(kinds).toEqual(all.map(() => 'stored'));
    expect(await given.boss.findJobs(given.queue)).toHaveLength(all.length);
  });
});
