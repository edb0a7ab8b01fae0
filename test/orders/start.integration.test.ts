import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { bench, event, order } from './service.ts';
import { loopOf } from './stepped-loop.ts';

const named = (partner_order_id: string) => ({ ...order, partner_order_id });

const minute = 60_000;

describe.each(storeKinds())('the loop of start, over $name', ({ open }) => {
  it('sends what was prepared, and tells of it as settled', async () => {
    const settled: JournaledOrder[] = [];
    const { journal, service, clock } = bench({ onSettled: (each) => settled.push(each) }, open);
    await journal.prepare(order, { merchant: 'ngn' });
    const { pass, load, errors } = loopOf(journal);
    await pass();
    // Its caller may be about to send it.
    expect(load).not.toHaveBeenCalled();
    clock.now += 1_000;
    await pass();
    await expect.poll(() => settled).toMatchObject([{ partner_order_id: 'A-1001', state: 'accepted' }]);
    expect(load.mock.calls).toMatchObject([[{ state: 'prepared', merchant: 'ngn' }]]);
    expect([service.requests, errors]).toEqual([['A-1001'], []]);
    expect(await journal.unsettled()).toEqual([]);
    clock.now += minute;
    await pass();
    expect(service.requests).toHaveLength(1);
  });

  it('sends what create could not send, with a pause that doubles', async () => {
    const { journal, service, clock } = bench({}, open);
    service.next.push('not-sent', 'not-sent', 'not-sent');
    await journal.create(order);
    const { pass, load, errors } = loopOf(journal);
    for (const [waitMs, attempts] of [
      [999, 1],
      [1, 2],
      [1_999, 2],
      [1, 3],
      [3_999, 3],
      [1, 4],
    ] as const) {
      clock.now += waitMs;
      await pass();
      await expect.poll(async () => (await journal.get('A-1001'))?.attempts).toBe(attempts);
      await vi.waitFor(async () =>
        expect(await journal.get('A-1001')).not.toMatchObject({ state: 'sending' }),
      );
    }
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect(load).toHaveBeenCalledTimes(3);
    expect(errors).toMatchObject([{ outcome: 'not-sent' }, { outcome: 'not-sent' }]);
  });

  it('never sends an order that was refused or whose outcome is unknown', async () => {
    const { journal, service, clock } = bench({}, open);
    service.next.push({ status: 422 }, 'lost');
    await journal.create(named('refused'));
    await journal.create(named('unknown'));
    const { pass, load } = loopOf(journal);
    clock.now += 2 * minute;
    await pass();
    expect(load).not.toHaveBeenCalled();
  });

  it('sends no order that nobody asked for within maxAgeMs, and hands it over once', async () => {
    const { journal, service, clock, another } = bench({}, open);
    service.next.push('not-sent', 'lost');
    await journal.create(named('late'));
    await journal.create(named('lost'));
    const { pass, load, unknown } = loopOf(journal);
    clock.now += 15 * minute + 1;
    await pass();
    await expect
      .poll(() => unknown.toSorted())
      .toEqual([
        ['late', 'too_old'],
        ['lost', 'outcome_unknown'],
      ]);
    await vi.waitFor(async () => expect(await another().get('late')).toBeDefined());
    const second = loopOf(another());
    for (let round = 0; round < 3; round++) {
      clock.now += minute;
      await pass();
      await second.pass();
    }
    expect([unknown.length, second.unknown, load.mock.calls]).toEqual([2, [], []]);
    // Whoever asks again vouches for its price.
    service.next.push('not-sent');
    await journal.create(named('late'));
    clock.now += minute;
    await pass();
    await expect.poll(async () => (await journal.get('late'))?.state).toBe('accepted');
  });

  it('hands an order over again when onUnknown has failed, one process at a time', async () => {
    const { journal, service, clock, another } = bench({ leaseMs: 5_000 }, open);
    service.next.push('lost');
    await journal.create(order);
    clock.now += 16 * minute;
    const failing = loopOf(journal, {
      onUnknown: () => {
        throw new Error('no pager');
      },
    });
    await failing.pass();
    await expect.poll(() => failing.errors.length).toBe(1);
    const second = loopOf(another());
    await second.pass();
    expect(second.unknown).toEqual([]);
    clock.now += 5_000;
    await second.pass();
    await expect.poll(() => second.unknown).toEqual([['A-1001', 'outcome_unknown']]);
  });

  it('hands over an unknown order once no event came within evidenceWithinMs, and its lease is over', async () => {
    const { journal, service, clock, another } = bench({ leaseMs: 120_000 }, open);
    const killed = Promise.withResolvers<Response>();
    onTestFinished(() => killed.reject(new Error('killed')));
    service.next.push('lost', () => killed.promise, 'lost');
    await journal.create(named('lost'));
    void another()
      .create(named('killed'))
      .catch(() => {});
    await expect.poll(() => service.requests).toEqual(['lost', 'killed']);
    await journal.create(named('settled'));
    await journal.observe(event('settled'));
    const { pass, unknown } = loopOf(journal);
    for (const [waitMs, ids] of [
      [60_000, []],
      [1, ['lost']],
      [119_999, ['lost']],
      [1, ['lost', 'killed']],
      [15 * minute, ['lost', 'killed']],
    ] as const) {
      clock.now += waitMs;
      await pass();
      await expect.poll(() => unknown).toEqual(ids.map((id) => [id, 'outcome_unknown']));
    }
    // Whoever looks may be overtaken by an event.
    expect(await journal.observe(event('killed'))).toMatchObject({ result: 'accepted' });
  });

  it('sends each order once, whichever of two processes finds it', async () => {
    const { journal, service, clock, another } = bench({}, open);
    const ids = Array.from({ length: 20 }, (_, index) => `A-${index}`);
    for (const id of ids) await journal.prepare(named(id));
    clock.now += 1_000;
    const loops = [loopOf(journal), loopOf(another())];
    await Promise.all(loops.map(({ pass }) => pass()));
    await expect.poll(() => service.requests.toSorted(), { timeout: 10_000 }).toEqual(ids.toSorted());
    await Promise.all(loops.map(({ loop }) => loop.stop()));
    expect(loops.flatMap(({ errors }) => errors)).toEqual([]);
    expect(await journal.unsettled()).toEqual([]);
  });

  it('sends no other payload than the one that was prepared', async () => {
    const { journal, service, clock } = bench({}, open);
    await journal.prepare(order);
    clock.now += 1_000;
    const { pass, errors } = loopOf(journal, {
      load: () => ({ ...order, fiat_amount: '1' }),
    });
    await pass();
    await expect.poll(() => errors).toMatchObject([{ code: 'different_order' }]);
    expect(service.requests).toEqual([]);
  });

  it('tells of what an event or a person settled, also when the hook has failed', async () => {
    const settled: string[] = [];
    let fails = true;
    const onSettled = ({ partner_order_id, state }: JournaledOrder) => {
      settled.push(`${partner_order_id} ${state}`);
      if (fails) throw new Error('The database is down.');
    };
    const { journal, service, clock } = bench({ onSettled, leaseMs: 5_000 }, open);
    service.next.push('lost', 'lost', 'ok');
    for (const id of ['event', 'person', 'reply']) await journal.create(named(id));
    expect(await journal.observe(event('event'))).toMatchObject({ result: 'accepted' });
    await journal.settle('person', 'abandoned', 'Not there.');
    await journal.observe(event('reply'));
    expect(settled.splice(0)).toEqual(['event accepted', 'person abandoned']);
    expect(await journal.unsettled()).toEqual([]);
    fails = false;
    const { pass } = loopOf(journal);
    await pass();
    expect(settled).toEqual([]);
    clock.now += 5_000;
    await pass();
    await expect.poll(() => settled.toSorted()).toEqual(['event accepted', 'person abandoned']);
    await vi.waitFor(async () => {
      clock.now += 5_000;
      await pass();
      expect(settled).toHaveLength(2);
    });
  });

  it('tells of what a person settled in a process without onSettled', async () => {
    const settled: string[] = [];
    const { journal, service, another } = bench({}, open);
    const reporting = another({ onSettled: ({ partner_order_id }) => settled.push(partner_order_id) });
    service.next.push('lost', 'lost');
    await journal.create(named('of the terminal'));
    await reporting.create(named('of the server'));
    for (const id of ['of the terminal', 'of the server'])
      await journal.settle(id, 'abandoned', 'Not there.');
    expect(await journal.health()).toMatchObject({ unreported: 1, unsettled: 0 });
    loopOf(reporting);
    await expect.poll(() => settled).toEqual(['of the server']);
    await expect.poll(async () => await journal.health()).toMatchObject({ unreported: 0 });
  });

  it('writes down a result that the store did not take, and tells of it', async () => {
    const settled: JournaledOrder[] = [];
    const { store, clock, another } = bench({ onSettled: (each) => settled.push(each) }, open);
    let failsAfter = Number.POSITIVE_INFINITY;
    const failing = another({
      onStoreError: () => {},
      store: {
        ...store,
        async transact(keys, change) {
          if (failsAfter-- <= 0) throw new StoreError('store_failed', 'Down.');
          return await store.transact(keys, change);
        },
      },
    });
    await failing.prepare(order);
    clock.now += 1_000;
    // Its onSettled is noted, the record is read, and its attempt begun.
    failsAfter = 3;
    const { pass } = loopOf(failing);
    await pass();
    await expect.poll(() => failsAfter).toBeLessThan(-1);
    failsAfter = Number.POSITIVE_INFINITY;
    await pass();
    await pass();
    await expect.poll(() => settled).toMatchObject([{ state: 'accepted' }]);
  });
});
