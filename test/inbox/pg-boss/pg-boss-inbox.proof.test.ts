import type { PgBoss } from 'pg-boss';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { pgBossInbox } from '../../../src/inbox/pg-boss/pg-boss-inbox.ts';
import type { Boss } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { toLease } from '../../../src/inbox/pg-boss/pg-boss-lease.ts';
import { pgBossStore } from '../../../src/inbox/pg-boss/pg-boss-store.ts';
import type { EventContext } from '../../../src/webhooks/handlers.ts';
import { refusal } from '../../support/refusal.ts';
import { eventually, order, quick, readHandling, receiver } from '../contract.ts';
import { engines } from '../engines.ts';
import { pgBossTests } from './pg-boss-for-tests.ts';

const postgresHere = (await engines.find(({ name }) => name === 'pg-boss')?.absent()) === undefined;
const quiet = { onError: () => {} };

it('pgBossInbox takes a pg-boss as it is', () => expectTypeOf<PgBoss>().toExtend<Boss>());

it.each([
  { timeLimitMs: 24 * 60 * 60 * 1000 },
  { rememberMs: 2 ** 31 * 1000 },
  { retry: { firstDelayMs: 2 ** 31 * 1000 } },
  { retry: { maxDelayMs: 2 ** 31 * 1000 } },
  { queue: 'my inbox' },
])('pgBossInbox refuses %j, which pg-boss would refuse of each delivery', (wrong) => {
  const none = async () => null;
  const methods = ['createQueue', 'insert', 'fetch', 'complete', 'fail', 'findJobs', 'deleteJob', 'getDb'];
  const boss: unknown = Object.fromEntries(methods.map((method) => [method, none]));
  expect(refusal(() => pgBossInbox({ boss: boss as Boss, ...wrong }))).toBe(
    'ConfigurationError invalid_option',
  );
});

describe.runIf(postgresHere)('the pg-boss inbox', () => {
  const test = pgBossTests();

  test('forgets what was handled when its time is over, and neither a dead letter nor what is open', async (given) => {
    const inbox = given.open({ maxAttempts: 1, rememberMs: 2_000 });
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
    const storing = given.open({ role: 'receiver', rememberMs: 2_000 });
    const { webhooks } = receiver(storing);
    await webhooks.receive(order('open'));
    // Deleted by the maintenance of pg-boss.
    await eventually(async () => expect(await given.boss.findJobs(given.queue)).toHaveLength(1));
    expect(await webhooks.receive(order('open'))).toMatchObject({ kind: 'duplicate' });
    expect(await webhooks.receive(order('handled'))).toMatchObject({ kind: 'stored' });
    expect(await storing.counts()).toEqual({ open: 2, dead: 1 });
    expect(await storing.deadLetters()).toMatchObject([{ reason: 'Error: no' }]);
  });

  test('does not take a delivery for a duplicate that pg-boss did not store', async (given) => {
    await given.boss.createQueue(given.queue, { policy: 'short' });
    const { webhooks } = receiver(given.open({ role: 'receiver' }), undefined, quiet);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    // The policy allows one waiting job.
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'unavailable', status: 503 });
  });

  test('makes its queues again that somebody deleted, and acknowledges nothing meanwhile', async (given) => {
    const { webhooks } = receiver(given.open({ role: 'receiver' }), undefined, quiet);
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'stored' });
    // By another process: this one does not learn of it.
    await given.boss.getDb().executeSql(`SELECT ${given.schema}.delete_queue($1)`, [given.queue]);
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'unavailable', status: 503 });
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'stored' });
    expect(await webhooks.receive(order('B'))).toMatchObject({ kind: 'duplicate' });
  });

  test('handles what a slow fetch took, at its first attempt', async (given) => {
    const slow = given.withOwn('fetch', async (...call) => {
      const jobs = await given.boss.fetch(...call);
      // real time: longer than the limit of the store, so that its answer is late.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return jobs;
    });
    // real time: what is late comes all the same.
    const inbox = given.open({ boss: slow, storeTimeoutMs: 100, timeLimitMs: 5_000, onStoreError: () => {} });
    const { webhooks, reports } = receiver(inbox);
    await webhooks.receive(order('A'));
    await eventually(() => expect(reports.at(-1)).toMatchObject({ outcome: 'handled', attempt: 1 }));
  });

  test('does not wait for ever for a fetch that never ends', async (given) => {
    let fetches = 0;
    const hung = given.withOwn('fetch', async (...call) =>
      fetches++ === 0 ? await new Promise(() => {}) : await given.boss.fetch(...call),
    );
    // real time: what a busy machine lets expire is tried again.
    const options = { storeTimeoutMs: 50, timeLimitMs: 100, onStoreError: () => {} };
    const { webhooks, calls } = receiver(given.open({ boss: hung, ...options }));
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    expect(fetches).toBeGreaterThan(1);
  });

  test('writes down what it handled though no more deliveries may wait for the store', async (given) => {
    let hangs = false;
    const busy = given.withOwn('insert', async (...call) => {
      // real time: the store is busy for a while.
      if (hangs) await new Promise((resolve) => setTimeout(resolve, 2_000));
      return await given.boss.insert(...call);
    });
    const end = Promise.withResolvers<void>();
    const inbox = given.open({ boss: busy, maxPending: 1, timeLimitMs: 5_000 });
    const { webhooks, calls } = receiver(inbox, () => end.promise, quiet);
    await webhooks.receive(order('A'));
    await eventually(() => expect(calls).toEqual(['A']));
    hangs = true;
    const waiting = webhooks.receive(order('B'));
    end.resolve();
    await eventually(async () =>
      expect((await given.boss.findJobs(given.queue))[0]?.state).toBe('completed'),
    );
    expect(await webhooks.receive(order('C'))).toMatchObject({ status: 503 });
    expect(await waiting).toMatchObject({ kind: 'stored' });
  });

  test('cuts a handler off before its lease ends, also a lease that another process chose', async (given) => {
    const storing = given.open({ role: 'receiver', timeLimitMs: 1_000 });
    const signals: (AbortSignal | undefined)[] = [];
    const handle = (_: string, { signal }: EventContext) => {
      signals.push(signal);
      return signals.length > 1 ? undefined : new Promise(() => {});
    };
    receiver(given.open({ timeLimitMs: 60_000 }), handle, quiet);
    await receiver(storing).webhooks.receive(order('A'));
    await eventually(() =>
      expect(signals[0]).toMatchObject({ aborted: true, reason: { code: 'handler_timeout' } }),
    );
  });

  test('waits longer after each attempt that failed, with some chance in it, and no longer than it may', async (given) => {
    const inbox = given.open({ maxAttempts: 20, retry: { firstDelayMs: 100_000, maxDelayMs: 500_000 } });
    const { webhooks, calls } = receiver(inbox, () => Promise.reject(new Error('no')), quiet);
    await webhooks.receive(order('A'));
    for (const [index, [least, most]] of [
      [100, 200],
      [200, 400],
      [400, 500],
      [500, 500],
    ].entries()) {
      await eventually(() => expect(calls).toHaveLength(index + 1));
      await eventually(async () =>
        expect(await given.boss.findJobs(given.queue)).toMatchObject([{ state: 'retry', retryCount: index }]),
      );
      const [job] = await given.boss.findJobs(given.queue);
      const seconds = (Number(job?.startAfter) - Number(job?.startedOn)) / 1000;
      expect(seconds).toBeGreaterThanOrEqual(least ?? 0);
      expect(seconds).toBeLessThan((most ?? 0) + 10);
      await given.changeJobs('start_after = now()');
    }
  });

  test('tries alone what a dead process had in hand, and counts none of that', async (given) => {
    const { webhooks } = receiver(given.open({ role: 'receiver' }));
    const ids = ['A', 'B', 'C'];
    for (const id of ids) await webhooks.receive(order(id));
    // A process that fetches them, and dies; the supervision of pg-boss finds that.
    await given.boss.fetch(given.queue, { batchSize: 3 });
    await given.changeJobs(`started_on = now() - interval '1 hour'`);
    await eventually(async () => {
      const states = (await given.boss.findJobs(given.queue)).map(({ state }) => state);
      expect(states).toEqual(['retry', 'retry', 'retry']);
    });
    await given.changeJobs('start_after = now()');
    let [now, most] = [0, 0];
    const inbox = given.open({ maxAttempts: 1 });
    const { calls, reports } = receiver(inbox, async () => {
      most = Math.max(most, ++now);
      // real time: others could begin meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 20));
      now--;
    });
    await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
    await eventually(() => expect(reports).toHaveLength(3));
    expect(calls.toSorted()).toEqual(ids);
    expect(most).toBe(1);
    expect(reports.map(({ outcome, attempt }) => [outcome, attempt])).toEqual(ids.map(() => ['handled', 1]));
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
  });

  test('does not handle again what it was marking as handled when its process died', async (given) => {
    const dies = given.withOwn('complete', () => new Promise(() => {}));
    const first = receiver(given.open({ boss: dies }));
    await first.webhooks.receive(order('A'));
    await eventually(async () =>
      expect(await given.boss.findJobs(given.queue)).toMatchObject([
        { state: 'active', data: { handled: true } },
      ]),
    );
    await given.changeJobs(`started_on = now() - interval '1 hour'`);
    const inbox = given.open();
    const { calls, webhooks } = receiver(inbox);
    await eventually(async () => {
      await given.changeJobs('start_after = now()', 'retry');
      expect(await inbox.counts()).toEqual({ open: 0, dead: 0 });
    });
    expect(await webhooks.receive(order('A'))).toMatchObject({ kind: 'duplicate' });
    expect([first.calls, calls]).toEqual([['A'], []]);
  });

  test('leaves a delivery alone whose lease another worker has', async (given) => {
    await receiver(given.open({ role: 'receiver' })).webhooks.receive(order('A'));
    const store = pgBossStore({ boss: given.boss, queue: given.queue, ...readHandling(quick) });
    const [late] = (await store.lease(1)).map(toLease);
    if (late === undefined) throw new Error('Nothing was leased.');
    const [job] = await given.boss.findJobs(given.queue);
    await given.boss.fail(given.queue, job?.id ?? '');
    await given.changeJobs('start_after = now()');
    const [current] = (await store.lease(1)).map(toLease);
    expect([late.attempt, current?.attempt]).toEqual([1, 2]);
    await store.postpone(late, 'late');
    expect(await store.isolate(late)).toBe(false);
    expect(await store.moveToDeadLetters(late, 'late')).toBe(false);
    expect(await given.boss.findJobs(given.queue)).toMatchObject([{ state: 'active', retryCount: 1 }]);
    expect(await store.counts()).toEqual({ open: 1, dead: 0 });
  });
});
