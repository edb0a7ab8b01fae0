import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { nextTurn } from '../support/next-turn.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { bench, event, named, order } from './service.ts';

/** An order whose reply was lost. */
async function lost(options: Parameters<typeof bench>[0] = {}) {
  const made = bench(options);
  made.service.next.push('lost');
  await made.journal.create(order);
  return made;
}

describe('onSettled', () => {
  it('is called once for an order that an event settles, which stays as it is', async () => {
    const onSettled = vi.fn();
    const { journal } = await lost({ onSettled });
    await journal.observe(event());
    const settled = await journal.get('A-1001');
    expect(settled).toMatchObject({ state: 'accepted', evidence: 'event' });
    // That it was called is one more change.
    expect(onSettled.mock.calls).toEqual([[{ ...settled, revision: Number(settled?.revision) - 1 }]]);
    expect(await journal.health()).toMatchObject({ unreported: 0 });
    await journal.observe(event());
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it('that fails is a warning, and is left to the loop: the event and the decision of a person count', async () => {
    const warnings = processWarnings();
    const onSettled = vi.fn(() => Promise.reject(new Error('down')));
    const { journal, service } = await lost({ onSettled });
    service.next.push('lost');
    await journal.create(named('B'));
    for (let repeated = 0; repeated < 2; repeated++) {
      expect(await journal.settle('A-1001', 'abandoned', 'Not there.')).toMatchObject({ state: 'abandoned' });
      expect(await journal.observe(event('B'))).toMatchObject({ order: { state: 'accepted' } });
    }
    expect(onSettled).toHaveBeenCalledTimes(2);
    expect(warnings()).toEqual([
      expect.stringMatching(/^onSettled of createOrderJournal failed, so the col/),
    ]);
    expect(await journal.health()).toMatchObject({ unreported: 2 });
  });

  it.each(['settle', 'observe'] as const)('of another process is left to its loop by %s', async (settle) => {
    const warnings = processWarnings();
    const onSettled = vi.fn();
    const { another, service } = await lost();
    const [terminal, server] = [another(), another({ onSettled })];
    service.next.push('lost');
    await server.create(named('B'));
    if (settle === 'observe') await terminal.observe(event('B'));
    else await terminal.settle('B', 'accepted', 'The service has it.');
    // The order of a journal without one is reported to nobody.
    await terminal.observe(event());
    expect(await terminal.health()).toMatchObject({ unreported: 1 });
    expect([onSettled.mock.calls, warnings()]).toEqual([[], []]);
  });
});

it('a result that the store does not take is a warning', async () => {
  const warnings = processWarnings();
  const { store, another } = bench();
  let commits = 0;
  const journal = another({
    store: {
      ...store,
      async transact(keys, change) {
        if (++commits > 1) throw new StoreError('store_failed', 'The disk is full.');
        return await store.transact(keys, change);
      },
    },
  });
  expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
  await nextTurn();
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^The result of an order could not be written to the journal: .*The disk is full\./,
    ),
  ]);
});

describe('the revision of an order', () => {
  it('grows with each change, and with nothing else', async () => {
    const { journal, service } = bench();
    service.next.push('lost');
    const revisions: unknown[] = [];
    for (const change of [
      () => journal.prepare(order),
      () => journal.create(order),
      () => journal.observe(event()),
    ])
      for (let repeated = 0; repeated < 2; repeated++) {
        await change();
        revisions.push((await journal.get('A-1001'))?.revision);
      }
    // The request and its result are two changes.
    expect(revisions).toEqual([1, 1, 3, 3, 4, 4]);
  });

  it('is not higher than that of an event for a result that the store did not take', async () => {
    processWarnings();
    const { another, service, store } = bench();
    let fails = false;
    const journal = another({
      store: {
        ...store,
        async transact(keys, change) {
          if (fails) throw new Error('down');
          return await store.transact(keys, change);
        },
      },
    });
    let seen: JournaledOrder | undefined;
    service.next.push(async () => {
      seen = (await another().observe(event())).order;
      fails = true;
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    const { order: created } = await journal.create(order);
    expect([seen?.state, created.state]).toEqual(['accepted', 'unknown']);
    expect(seen?.revision).toBeGreaterThan(created.revision);
  });
});
