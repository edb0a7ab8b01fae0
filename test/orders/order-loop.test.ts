import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { nextTurn } from '../support/next-turn.ts';
import { bench, event, keySets, named, order, ringBench } from './service.ts';
import { idle, loopOf } from './stepped-loop.ts';

const minute = 60_000;

describe('the loop of start', () => {
  it('sends what was prepared, and tells of it as settled', async () => {
    const settled: JournaledOrder[] = [];
    const { journal, service, clock } = bench({ onSettled: (each) => settled.push(each) });
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
    const { journal, service, clock } = bench();
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

  it('sends no order that nobody asked for within maxAgeMs, and hands it over once', async () => {
    const { journal, service, clock, another } = bench();
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
    const { journal, service, clock, another } = bench({ leaseMs: 5_000 });
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

  it('tells of what an event or a person settled, also when the hook has failed', async () => {
    const settled: string[] = [];
    let fails = true;
    const onSettled = ({ partner_order_id, state }: JournaledOrder) => {
      settled.push(`${partner_order_id} ${state}`);
      if (fails) throw new Error('The database is down.');
    };
    const { journal, service, clock } = bench({ onSettled, leaseMs: 5_000 });
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

  it('asks for an order that load did not give after a pause that doubles, and sends the others', async () => {
    const { journal, service, clock } = bench();
    await journal.prepare(named('a'));
    await journal.prepare(named('b'));
    clock.now += 1_000;
    let asked = 0;
    const { pass, errors } = loopOf(journal, {
      load: ({ partner_order_id }) => {
        if (partner_order_id === 'b') return named('b');
        asked++;
        throw new Error('no such row');
      },
    });
    for (const [waitMs, times] of [
      [0, 1],
      [999, 1],
      [1, 2],
      [1_999, 2],
      [1, 3],
    ] as const) {
      clock.now += waitMs;
      await pass();
      await expect.poll(() => [asked, errors.length]).toEqual([times, times]);
    }
    expect(service.requests).toEqual(['b']);
  });

  it('backs off while the store fails, and goes on when it works', async () => {
    const { journal, store, service, clock, another } = bench();
    await journal.prepare(order);
    clock.now += 1_000;
    let works = false;
    const { pass, pauses, errors } = loopOf(
      another({
        store: {
          ...store,
          async list(options) {
            if (works) return await store.list(options);
            throw new StoreError('store_failed', 'Down.');
          },
        },
      }),
      { everyMs: 10 },
    );
    for (let round = 0; round < 5; round++) await pass();
    expect(errors).toHaveLength(6);
    expect(pauses.at(0)).toBeLessThanOrEqual(1_000);
    expect(pauses.at(-1)).toBeGreaterThan(15_000);
    works = true;
    await pass();
    expect(pauses.at(-1)).toBe(10);
    await expect.poll(() => service.requests).toEqual(['A-1001']);
  });

  it('stops when what it began has ended, and begins nothing afterwards', async () => {
    const { journal, service, clock } = bench();
    const reply = Promise.withResolvers<Response>();
    service.next.push(() => reply.promise.then((ok) => ok.clone()));
    const ids = Array.from({ length: 9 }, (_, index) => `A-${index}`);
    service.next.push(...ids.slice(1, 8).map(() => () => reply.promise.then((ok) => ok.clone())));
    for (const id of ids) await journal.prepare(named(id));
    clock.now += 1_000;
    // It sends eight at the same time.
    const { loop } = loopOf(journal);
    await expect.poll(() => service.requests.length).toBe(8);
    let hasStopped = false;
    const stopping = loop.stop().then(() => {
      hasStopped = true;
    });
    await Promise.resolve();
    expect(hasStopped).toBe(false);
    reply.resolve(Response.json({ ok: true }));
    await stopping;
    expect(service.requests).toHaveLength(8);
    expect((await journal.unsettled()).map(({ state }) => state)).toEqual(['prepared']);
  });

  it('warns of each order that needs a person, and of errors, where no hook is given', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    const { journal, service, clock } = bench();
    service.next.push('lost');
    await journal.create(named('W-1'));
    clock.now += 16 * minute;
    await journal.prepare(named('W-2'));
    clock.now += 1_000;
    loopOf(journal, {
      onUnknown: undefined,
      onError: undefined,
      load: () => {
        throw new Error('no such row');
      },
    });
    await expect
      .poll(() => warnings.mock.calls.map(([text]) => String(text)).toSorted())
      .toEqual([
        'Order "W-1" needs a person: it was sent, and nothing tells whether the service has it.',
        'The loop of an order journal goes on after an error: Error: no such row',
      ]);
  });

  it('loads an order again that was replaced meanwhile', async () => {
    const { journal, service, clock } = bench();
    await journal.prepare(order);
    clock.now += 1_000;
    const changed = { ...order, fiat_amount: '5' };
    let row = order as typeof changed | typeof order;
    const { pass, errors } = loopOf(journal, {
      load: async () => {
        const loaded = row;
        row = changed;
        if (loaded !== order) return loaded;
        await journal.prepare(changed, { replace: true });
        clock.now += 1_000;
        return loaded;
      },
    });
    await pass();
    await expect.poll(() => row).toBe(changed);
    await nextTurn();
    clock.now += 1_000;
    await pass();
    await expect.poll(async () => await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect([errors, service.requests]).toEqual([[], ['A-1001']]);
  });

  it('does not start where no process stays to run it', () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => bench().journal.start({ load: () => order })).toThrow(
      'No process stays here to send orders',
    );
  });
});

describe('an order that waits', () => {
  it('for the end of a rate limit is sent again after Retry-After, and not before', async () => {
    const { journal, service, clock } = bench();
    service.next.push({ status: 429, headers: { 'retry-after': '30' } });
    expect((await journal.create(order)).state).toBe('waiting');
    const { pass, errors } = loopOf(journal);
    clock.now += 29_999;
    await pass();
    await idle();
    expect(service.requests).toHaveLength(1);
    clock.now += 1;
    await pass();
    await expect.poll(async () => await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect([service.requests, errors]).toEqual([['A-1001', 'A-1001'], []]);
  });

  it('for new keys is sent under them', async () => {
    const keys = { now: keySets('old', { awaited: true }) };
    const { journal, clock, ring, tried } = ringBench(401, { key: 'new' }, keys);
    expect((await journal.create(order)).state).toBe('waiting');
    const { pass } = loopOf(journal);
    keys.now = keySets('new');
    await ring.reload();
    clock.now += 1_000;
    await pass();
    await expect.poll(async () => await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect(tried).toEqual(['old', 'new']);
  });
});
