import { describe, expect, it } from 'vitest';
import { allOf, down, hour, idsOf, keyOf, keysIn, put, recordsBench } from './records-bench.ts';

const day = 24 * hour;

describe('an event whose order the journal does not have', () => {
  const seen = (name: string) => ({ name, digest: `of ${name}`, body: {} });
  const straysOf = async ({ records }: Pick<ReturnType<typeof recordsBench>, 'records'>) =>
    (await allOf(records.readAll())).flatMap(({ stray }) => stray ?? []);

  it('is kept for 30 days, the first of each order', async () => {
    const bench = recordsBench();
    const at = bench.clock.now;
    await bench.records.noteStray('A', seen('first'));
    bench.clock.now += 1;
    await bench.records.noteStray('A', seen('second'));
    const stray = { partner_order_id: 'A', name: 'first', digest: 'of first', at };
    bench.clock.now = at + 30 * day - 1;
    expect(await straysOf(bench)).toEqual([stray]);
    bench.clock.now += 1;
    expect(await straysOf(bench)).toEqual([]);
  });

  it('is no order, and in no index', async () => {
    const bench = recordsBench();
    await put(bench, 'B');
    await bench.records.noteStray('A', seen('first'));
    expect(await keysIn(bench, 'o:open:')).toHaveLength(1);
    expect(idsOf(await allOf(bench.records.all()))).toEqual(['B']);
    expect(await bench.records.read('A')).toBeUndefined();
    expect(await straysOf(bench)).toMatchObject([{ partner_order_id: 'A' }]);
  });

  it('gives its place to the order, which then stays', async () => {
    const bench = recordsBench();
    await bench.records.noteStray('A', seen('first'));
    await put(bench, 'A', { state: 'refused' });
    await bench.records.noteStray('A', seen('second'));
    bench.clock.now += 31 * day;
    expect(await bench.records.read('A')).toMatchObject({ state: 'refused', revision: 1 });
    expect(await straysOf(bench)).toEqual([]);
    expect(await keysIn(bench, '')).toEqual([keyOf('A')]);
  });

  it('is kept although the store fails once', async () => {
    const bench = recordsBench();
    let failures = 0;
    bench.hooks.before = () => (failures++ === 0 ? down() : undefined);
    await bench.records.noteStray('A', seen('first'));
    expect(await straysOf(bench)).toHaveLength(1);
  });
});
