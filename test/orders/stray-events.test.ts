import { describe, expect, it } from 'vitest';
import { allOf, down, hour, keysIn, put, recordsBench } from './records-bench.ts';

const day = 24 * hour;

describe('an event whose order the journal does not have', () => {
  const seen = (name: string) => ({ name, digest: `of ${name}`, body: {}, unread: [] });

  it('is kept for 30 days, the first of each order', async () => {
    const bench = recordsBench();
    const at = bench.clock.now;
    await bench.records.noteStray('A', seen('first'));
    bench.clock.now += 1;
    await bench.records.noteStray('A', seen('second'));
    const stray = { partner_order_id: 'A', name: 'first', digest: 'of first', at };
    bench.clock.now = at + 30 * day - 1;
    expect(await allOf(bench.records.strays())).toEqual([stray]);
    bench.clock.now += 1;
    expect(await allOf(bench.records.strays())).toEqual([]);
  });

  it.each([1_999, 2_000, 2_001])('is listed once, also if there are %i', async (count) => {
    const bench = recordsBench();
    const ids = Array.from({ length: count }, (_, index) => String(index).padStart(4, '0'));
    for (let start = 0; start < count; start += 1_000) {
      const page = ids.slice(start, start + 1_000);
      await bench.memory.transact(
        page.map((id) => `o:stray:${id}`),
        (records) => {
          for (const id of page) records.set(`o:stray:${id}`, { partner_order_id: id });
        },
      );
    }
    const strays = await allOf(bench.records.strays());
    expect(strays.map(({ partner_order_id: id }) => id)).toEqual(ids);
  });

  it('is kept apart from the orders', async () => {
    const bench = recordsBench();
    await put(bench, 'B');
    await bench.records.noteStray('A', seen('first'));
    expect(await keysIn(bench, 'o:stray:')).toHaveLength(1);
    expect(await allOf(bench.records.strays())).toMatchObject([{ partner_order_id: 'A' }]);
  });

  it('is kept although the store fails once', async () => {
    const bench = recordsBench();
    let failures = 0;
    bench.hooks.before = () => (failures++ === 0 ? down() : undefined);
    await bench.records.noteStray('A', seen('first'));
    expect(await allOf(bench.records.strays())).toHaveLength(1);
  });
});
