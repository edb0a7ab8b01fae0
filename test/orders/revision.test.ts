import { describe, expect, it } from 'vitest';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { bench, event, order } from './service.ts';

describe('the revision of an order', () => {
  it('grows with each change, and with nothing else', async () => {
    const { journal, another, service } = bench();
    const revisions: (number | undefined)[] = [];
    const note = async () => revisions.push((await another().get('A-1001'))?.revision);
    service.next.push('lost');
    await journal.prepare(order);
    await note();
    await journal.prepare(order);
    await note();
    await journal.create(order);
    await note();
    await journal.create(order);
    await note();
    await journal.observe(event());
    await note();
    await journal.observe(event());
    await note();
    // The request and its result are two changes.
    expect(revisions).toEqual([1, 1, 3, 3, 4, 4]);
  });

  it('is not higher than that of an event for a result that the store did not take', async () => {
    const { another, service, clock } = bench({ onStoreError: () => {} });
    const memory = memoryStore({ now: () => clock.now });
    let fails = false;
    const store: typeof memory = {
      ...memory,
      transact: async (keys, change) => {
        if (fails) throw new Error('down');
        return await memory.transact(keys, change);
      },
    };
    const [journal, other] = [another({ store }), another({ store: memory })];
    let seen: JournaledOrder | undefined;
    service.next.push(async () => {
      seen = (await other.observe(event())).order;
      fails = true;
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    const { order: created } = await journal.create(order);
    expect([seen?.state, created.state]).toEqual(['accepted', 'unknown']);
    expect(seen?.revision).toBeGreaterThan(created.revision);
  });

  it.each(['as they came', 'the other way round'])(
    'makes one state of two writers of a row, whose writes are made %s',
    async (direction) => {
      const writes: JournaledOrder[] = [];
      const { journal, service } = bench({ onSettled: (settled) => void writes.push(settled) });
      service.next.push('lost');
      const { order: created } = await journal.create(order);
      await journal.observe(event());
      writes.unshift(created);
      expect(writes.map(({ state }) => state)).toEqual(['unknown', 'accepted']);
      // UPDATE orders SET state = $2, revision = $3 WHERE id = $1 AND revision < $3
      let row = { state: 'waiting', revision: 0 };
      for (const { state, revision } of direction === 'as they came' ? writes : writes.reverse())
        if (row.revision < revision) row = { state, revision };
      expect(row.state).toBe('accepted');
    },
  );
});
