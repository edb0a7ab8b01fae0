import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { nextTurn } from '../support/next-turn.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { bench, event, order } from './service.ts';

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
    expect(settled).toMatchObject({ state: 'accepted', evidence: 'event', platform_order_ref: 'ref_7d41' });
    // That it was called is one more change.
    expect(onSettled.mock.calls).toEqual([[{ ...settled, revision: Number(settled?.revision) - 1 }]]);
    expect(await journal.health()).toMatchObject({ unreported: 0 });
    await journal.observe(event());
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it('that fails is a warning, and is left to the loop: the event and the decision of a person count', async () => {
    const warnings = processWarnings();
    const onSettled = vi.fn(() => Promise.reject(new Error('down')));
    const { journal } = await lost({ onSettled });
    await journal.settle('A-1001', 'abandoned', 'Not there.');
    expect(warnings()).toEqual([
      expect.stringMatching(/^onSettled of createOrderJournal failed, so the column/),
    ]);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned' });
    expect(await journal.health()).toMatchObject({ unreported: 1 });
    // The same decision changes nothing.
    await journal.settle('A-1001', 'abandoned', 'Not there.');
    expect(onSettled).toHaveBeenCalledTimes(1);
  });

  it('that failed is not called again by a second event, but by the loop', async () => {
    const onSettled = vi.fn(() => Promise.reject(new Error('down')));
    const { journal } = await lost({ onSettled });
    await journal.observe(event());
    expect(await journal.observe(event())).toMatchObject({ result: 'known' });
    expect(onSettled).toHaveBeenCalledTimes(1);
    expect(await journal.health()).toMatchObject({ unreported: 1 });
  });

  it('of another process is left to its loop by a journal that has none, without a warning', async () => {
    const warnings = processWarnings();
    const onSettled = vi.fn();
    for (const settle of ['settle', 'observe'] as const) {
      const { another, service } = await lost();
      const [terminal, server] = [another(), another({ onSettled })];
      service.next.push('lost');
      await server.create({ ...order, partner_order_id: 'B' });
      if (settle === 'observe') await terminal.observe(event('B'));
      else await terminal.settle('B', 'accepted', 'The service has it.');
      expect(await terminal.health()).toMatchObject({ unreported: 1 });
      // The order of a journal without one is reported to nobody.
      await terminal.observe(event());
      expect(await terminal.health()).toMatchObject({ unreported: 1 });
    }
    expect([onSettled.mock.calls, warnings()]).toEqual([[], []]);
  });
});

describe('a result that the store does not take', () => {
  it('is a warning where there is no onStoreError, and create returns it', async () => {
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
});
