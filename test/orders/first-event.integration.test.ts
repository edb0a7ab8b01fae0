import { describe, expect, it } from 'vitest';
import type { RecordStore } from '../../src/store/record-store.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { type Bench, bench, event, order } from './service.ts';

const hour = 3_600_000;
const named = (partner_order_id: string) => ({ ...order, partner_order_id });
const idsOf = async ({ journal }: Pick<Bench, 'journal'>, options = {}) =>
  (await journal.unsettled(options)).map(({ partner_order_id }) => partner_order_id);

/** A journal whose events arrive. */
async function observing(
  options: Parameters<typeof bench>[0] = {},
  open?: (now: () => number) => RecordStore,
): Promise<Bench> {
  const world = bench(options, open);
  await world.journal.create(named('first'));
  await world.journal.observe(event('first'));
  return world;
}

describe.each(storeKinds())('an accepted order without its first event, over $name', ({ open }) => {
  it('is listed by unsettled after an hour, with the time since when it waits', async () => {
    const { journal, clock, another } = await observing({}, open);
    await journal.create(order);
    const since = clock.now;
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', awaitingEventSince: since });
    clock.now += hour - 1;
    expect(await journal.unsettled()).toEqual([]);
    clock.now += 1;
    expect(await another().unsettled()).toMatchObject([
      { partner_order_id: 'A-1001', state: 'accepted', evidence: 'reply', awaitingEventSince: since },
    ]);
    expect(await another().create(order)).toMatchObject({ state: 'accepted' });
  });

  it('is listed no more once its event comes, and leaves nothing in the index', async () => {
    const { journal, clock, store } = await observing({}, open);
    await journal.create(order);
    clock.now += hour;
    expect(await journal.observe(event())).toMatchObject({
      result: 'known',
      order: { state: 'accepted', evidence: 'reply', platform_order_ref: 'ref_7d41' },
    });
    expect(await journal.unsettled()).toEqual([]);
    expect(await journal.get('A-1001')).not.toHaveProperty('awaitingEventSince');
    expect(await store.list({ prefix: 'orders:open:', limit: 10 })).toEqual([]);
  });

  it.each(['accepted', 'abandoned'] as const)('is %s when a person says so', async (decision) => {
    const { journal, clock } = await observing({}, open);
    await journal.create(order);
    expect(await rejected(journal.settle('A-1001', 'abandoned', 'x'))).toMatchObject({
      code: 'already_settled',
    });
    clock.now += hour;
    const settled = await journal.settle('A-1001', decision, 'Asked the service.');
    expect(settled).toMatchObject({ state: decision, evidence: 'person', note: 'Asked the service.' });
    expect(settled).not.toHaveProperty('awaitingEventSince');
    expect(await journal.unsettled()).toEqual([]);
    expect(await journal.settle('A-1001', decision, 'Again.')).toEqual(settled);
  });
});

describe('an accepted order without its first event', () => {
  it('counts where no event was ever observed, too', async () => {
    const world = bench();
    await world.journal.create(order);
    world.clock.now += hour;
    expect(await idsOf(world)).toEqual(['A-1001']);
    expect(await world.journal.health()).toMatchObject({ withoutEvent: 1, unsettled: 0 });
  });

  it('is listed for 30 days, and found by reconcile after that', async () => {
    const { journal, store, clock } = bench();
    await journal.create(order);
    clock.now += 30 * 24 * hour;
    expect(await idsOf({ journal })).toEqual(['A-1001']);
    clock.now += hour;
    expect(await idsOf({ journal })).toEqual([]);
    expect(await store.list({ prefix: 'orders:open:', limit: 10 })).toEqual([]);
    const kinds: string[] = [];
    for await (const { kind } of journal.reconcile({ since: 0 })) kinds.push(kind);
    expect(kinds).toEqual(['never_reported']);
  });

  it('is remembered for as long as it waits, whatever rememberMs says', async () => {
    const world = await observing({ rememberMs: 1000 });
    await world.another().create(order);
    world.clock.now += 30 * 24 * hour;
    expect(await idsOf(world)).toEqual(['A-1001']);
    await world.journal.observe(event());
    world.clock.now += 1000;
    expect(await world.journal.get('A-1001')).toBeUndefined();
  });

  it('comes after the orders that are unsettled, the oldest first, within the limit', async () => {
    const world = await observing();
    await world.journal.create(named('a'));
    world.clock.now += 1000;
    await world.journal.create(named('b'));
    world.clock.now += hour;
    world.service.next.push('lost');
    await world.journal.create(named('c'));
    expect(await idsOf(world)).toEqual(['c', 'a', 'b']);
    expect(await idsOf(world, { limit: 2 })).toEqual(['c', 'a']);
    expect(await idsOf(world, { olderThanMs: hour + 1000 })).toEqual(['a']);
  });

  it.each([
    ['an event came before the reply', async ({ journal }: Bench) => await journal.observe(event())],
    ['the reply was lost', async ({ journal }: Bench) => await journal.observe(event())],
  ])('has its event if %s', async (name, meanwhile) => {
    const world = await observing();
    world.service.next.push(async () => {
      await meanwhile(world);
      if (name === 'the reply was lost') throw new Error('reset');
      return Response.json({ ok: true });
    });
    await world.journal.create(order);
    world.clock.now += hour;
    expect(await idsOf(world)).toEqual([]);
  });

  it('is listed after another time, or never, as firstEventWithinMs says', async () => {
    const world = await observing();
    await world.journal.create(order);
    world.clock.now += 5000;
    expect(await idsOf({ journal: world.another({ firstEventWithinMs: 5000 }) })).toEqual(['A-1001']);
    world.clock.now += 10 * hour;
    expect(await idsOf({ journal: world.another({ firstEventWithinMs: false }) })).toEqual([]);
    const without = await observing({ firstEventWithinMs: false });
    await without.journal.create(order);
    expect(await without.store.list({ prefix: 'orders:open:', limit: 10 })).toEqual([]);
    expect(await without.store.list({ prefix: '', limit: 10 })).toHaveLength(2);
  });

  it('is listed when the clock was set back', async () => {
    const world = await observing();
    await world.journal.create(order);
    world.clock.now -= 24 * hour;
    expect(await idsOf(world)).toEqual(['A-1001']);
  });
});
