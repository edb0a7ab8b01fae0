import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import type { OrderLoopOptions } from '../../src/orders/loop-options.ts';
import { nextTurn } from '../support/next-turn.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { refusal } from '../support/refusal.ts';
import { bench, event, order } from './service.ts';
import { loopOf } from './stepped-loop.ts';

const named = (partner_order_id: string) => ({ ...order, partner_order_id });
const minute = 60_000;

describe('the loop of start', () => {
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
    service.next.push(() => reply.promise);
    await journal.prepare(named('a'));
    await journal.prepare(named('b'));
    clock.now += 1_000;
    const { loop } = loopOf(journal, { concurrency: 1 });
    await expect.poll(() => service.requests.length).toBe(1);
    let hasStopped = false;
    const stopping = loop.stop().then(() => {
      hasStopped = true;
    });
    await Promise.resolve();
    expect(hasStopped).toBe(false);
    reply.resolve(Response.json({ ok: true }));
    await stopping;
    expect(service.requests).toHaveLength(1);
    expect((await journal.unsettled()).map(({ state }) => state)).toEqual(['prepared']);
  });

  it('sends at most `concurrency` orders at the same time', async () => {
    const { journal, service, clock } = bench();
    const replies = Promise.withResolvers<void>();
    let most = 0;
    let open = 0;
    for (let index = 0; index < 10; index++) {
      await journal.prepare(named(`A-${index}`));
      service.next.push(async () => {
        most = Math.max(most, ++open);
        await replies.promise;
        open--;
        return Response.json({ ok: true });
      });
    }
    clock.now += 1_000;
    loopOf(journal, { concurrency: 3 });
    await expect.poll(() => open).toBe(3);
    replies.resolve();
    await expect.poll(async () => (await journal.unsettled()).length).toBe(0);
    expect(most).toBe(3);
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

  it('needs a load, and refuses options that do not exist', () => {
    const { journal } = bench();
    // Sound: they are refused.
    const start = (options: object) => refusal(() => journal.start(options as OrderLoopOptions));
    expect(start({})).toBe('ConfigurationError invalid_option');
    expect(start({ load: () => order, every: 5 })).toBe('ConfigurationError invalid_option');
  });

  it('sends no order for which load gives another id', async () => {
    const { journal, service, clock } = bench();
    for (const id of ['a', 'b']) await journal.prepare(named(id));
    clock.now += 1_000;
    const { errors } = loopOf(journal, { load: () => named('b') });
    await expect.poll(() => service.requests).toEqual(['b']);
    await expect.poll(() => errors).toMatchObject([{ code: 'different_order', partner_order_id: 'a' }]);
    expect(await journal.unsettled()).toMatchObject([{ partner_order_id: 'a', state: 'prepared' }]);
  });

  it('asks again for an order that load gives with another payload, and sends the right one', async () => {
    const { journal, service, clock } = bench();
    await journal.prepare(order);
    let row = { ...order, fiat_amount: '999999.00' };
    const { pass, errors } = loopOf(journal, { load: () => row });
    for (const [waitMs, reports] of [
      [1_000, 1],
      [999, 1],
      [1, 2],
    ] as const) {
      clock.now += waitMs;
      await pass();
      await expect.poll(() => errors).toHaveLength(reports);
    }
    expect(errors).toMatchObject(errors.map(() => ({ code: 'different_order', state: 'prepared' })));
    expect(service.requests).toEqual([]);
    row = order;
    clock.now += 2_000;
    await pass();
    await expect.poll(async () => await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
    expect(errors).toHaveLength(2);
  });

  it('hands an order over that load gives with another payload until it is too old', async () => {
    const { journal, clock } = bench();
    await journal.prepare(order);
    clock.now += 1_000;
    const { pass, unknown, errors } = loopOf(journal, { load: () => ({ ...order, fiat_amount: '1' }) });
    await expect.poll(() => errors).toHaveLength(1);
    await nextTurn();
    clock.now += 16 * minute;
    await pass();
    await expect.poll(() => unknown).toEqual([['A-1001', 'too_old']]);
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

  it('begins with the first pause again once load has given the order', async () => {
    const { journal, service, clock } = bench();
    await journal.prepare(order);
    service.next.push('not-sent');
    let asked = 0;
    const { pass } = loopOf(journal, {
      load: () => {
        if (++asked === 3) return order;
        throw new Error('no such row');
      },
    });
    for (const [waitMs, times] of [
      [1_000, 1],
      [1_000, 2],
      [2_000, 3],
      [1_000, 4],
      [999, 4],
      [1, 5],
    ] as const) {
      clock.now += waitMs;
      await pass();
      await expect.poll(() => asked).toBe(times);
      await nextTurn();
    }
  });

  it('forgets how often load has failed once the order is settled', async () => {
    const { journal, service, clock } = bench();
    await journal.prepare(order);
    let asked = 0;
    const changed = { ...order, fiat_amount: '5' };
    const { pass } = loopOf(journal, {
      load: () => {
        if (++asked > 3) return changed;
        throw new Error('no such row');
      },
    });
    for (const [index, waitMs] of [1_000, 1_000, 2_000].entries()) {
      clock.now += waitMs;
      await pass();
      await expect.poll(() => asked).toBe(index + 1);
      await nextTurn();
    }
    service.next.push({ status: 422 });
    await journal.create(order);
    await pass();
    await journal.prepare(changed, { replace: true });
    clock.now += 1_000;
    await pass();
    await expect.poll(() => service.requests).toHaveLength(2);
  });

  it('of a journal without onSettled reports nothing, and leaves it to a loop that does', async () => {
    const { journal, clock, another, service } = bench();
    await journal.prepare(named('sent'));
    clock.now += 1_000;
    const { pass } = loopOf(journal);
    await expect.poll(async () => (await journal.get('sent'))?.state).toBe('accepted');
    service.next.push('lost', 'lost');
    await journal.create(named('settled'));
    await journal.settle('settled', 'abandoned', 'Not there.');
    expect(await journal.health()).toMatchObject({ unreported: 0 });

    const settled: string[] = [];
    const onSettled = ({ partner_order_id }: JournaledOrder) => settled.push(partner_order_id);
    const failing = another({ onSettled: () => Promise.reject(new Error('down')) });
    await failing.create(named('observed'));
    await failing.observe(event('observed'));
    clock.now += 2 * minute;
    await pass();
    loopOf(another({ onSettled }));
    await expect.poll(() => settled).toEqual(['observed']);
  });

  it('goes on when onError fails, with a warning', async () => {
    const warnings = processWarnings();
    const { journal, service, clock } = bench();
    for (const id of ['a', 'b']) await journal.prepare(named(id));
    clock.now += 1_000;
    loopOf(journal, {
      load: ({ partner_order_id }) => {
        if (partner_order_id === 'a') throw new Error('no such row');
        return named(partner_order_id);
      },
      onError: () => {
        throw new Error('no pager');
      },
    });
    await expect.poll(() => service.requests).toEqual(['b']);
    await expect.poll(warnings).toEqual(['onError of start failed; nothing else is affected.']);
  });

  it('does not start where no process stays to run it', () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => bench().journal.start({ load: () => order })).toThrow(
      'No process stays here to send orders',
    );
  });
});
