import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { bench, errorOf, event, order } from './service.ts';

/** What a store does with a transaction: `lost` commits it and reports a failure, as a connection that breaks does. */
type Fate = 'works' | 'fails' | 'lost';

/** A store whose next transactions go as they are told. */
function fateful(store: RecordStore, fates: Fate[]): RecordStore {
  return {
    ...store,
    async transact(keys, change) {
      const fate = fates.shift() ?? 'works';
      if (fate === 'fails') throw new StoreError('store_failed', 'The connection was refused.');
      const result = await store.transact(keys, change);
      if (fate === 'lost') throw new StoreError('store_failed', 'The connection broke.');
      return result;
    },
  };
}

function outage(open?: (now: () => number) => RecordStore) {
  const all = bench({}, open);
  const fates: Fate[] = [];
  const journal = all.another({ store: fateful(all.store, fates), onStoreError: () => {} });
  return { ...all, journal, fates, other: all.another() };
}

describe.each(storeKinds())('after an outage of the store, over $name', ({ open }) => {
  it('an order that was never sent is known not to be, as soon as the store works again', async () => {
    const { journal, fates, other, service } = outage(open);
    fates.push('lost', 'fails');
    expect(await rejected(journal.create(order))).toMatchObject({ code: 'store_failed' });
    expect(await other.get('A-1001')).toMatchObject({ state: 'sending' });
    await journal.create({ ...order, partner_order_id: 'B' });
    await vi.waitFor(async () =>
      expect(await other.get('A-1001')).toMatchObject({ state: 'not-sent', failure: 'store_failed' }),
    );
    expect(service.requests).toEqual(['B']);
    expect(await other.unsettled()).toMatchObject([{ partner_order_id: 'A-1001' }]);
  });

  it('an order that was never sent is sent when it is asked for again, once', async () => {
    const { journal, fates, service } = outage(open);
    fates.push('lost', 'fails', 'fails', 'fails');
    await rejected(journal.create(order));
    expect(await rejected(journal.create(order))).toMatchObject({ code: 'store_failed' });
    expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
    expect(service.requests).toEqual(['A-1001']);
  });

  it.each(['get', 'unsettled'] as const)('%s tells the truth, and writes it down', async (ask) => {
    const { journal, fates, other, clock } = outage(open);
    fates.push('lost', 'fails');
    await rejected(journal.create(order));
    clock.now += 120_000;
    if (ask === 'get') expect(await journal.get('A-1001')).toMatchObject({ state: 'not-sent' });
    else expect(await journal.unsettled()).toMatchObject([{ state: 'not-sent' }]);
    expect(await other.get('A-1001')).toMatchObject({ state: 'not-sent' });
  });

  it('a reply that could not be written is written later', async () => {
    const { journal, fates, other, service, clock } = outage(open);
    fates.push('works', 'fails', 'fails');
    expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
    clock.now += 120_000;
    expect(await other.get('A-1001')).toMatchObject({ state: 'unknown' });
    expect(await journal.unsettled()).toEqual([]);
    expect(await other.get('A-1001')).toMatchObject({ state: 'accepted', evidence: 'reply', status: 200 });
    expect(service.requests).toEqual(['A-1001']);
  });

  it('what a person has decided meanwhile stays', async () => {
    const { journal, fates, other, clock } = outage(open);
    fates.push('lost', 'fails');
    await rejected(journal.create(order));
    clock.now += 120_000;
    await other.settle('A-1001', 'abandoned', 'The service has none.');
    expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned' });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_abandoned' });
  });

  it('an event that says otherwise is a contradiction', async () => {
    const { journal, fates } = outage(open);
    fates.push('lost', 'fails');
    await rejected(journal.create(order));
    expect(await journal.observe(event())).toMatchObject({
      result: 'contradiction',
      order: { state: 'accepted', contradiction: 'not-sent' },
    });
  });

  it('what was prepared in a transaction that was taken back is still known', async () => {
    const { journal, fates, other, store } = outage(open);
    fates.push('lost', 'fails');
    await rejected(journal.create(order));
    const rolledBack: RecordStore = {
      ...store,
      async transact(keys, change) {
        const records = await store.transact(
          keys,
          (found) => new Map(keys.map((key) => [key, found.get(key)])),
        );
        return change({ get: (key) => records.get(key), set: () => {}, delete: () => {} });
      },
    };
    expect(await journal.prepare(order, { store: rolledBack })).toMatchObject({ state: 'prepared' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'not-sent' });
    expect(await other.get('A-1001')).toMatchObject({ state: 'not-sent' });
  });
});

it('no order that was never sent is unknown in the end, however the store failed', async () => {
  const { journal, fates, other, service, clock } = outage();
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  let failures = 0;
  for (let index = 0; index < 400; index++) {
    // In an outage most transactions fail, and of some only the reply is lost.
    if (index % 40 < 20)
      fates.push(...Array.from({ length: 4 }, (): Fate => (random() < 0.6 ? 'fails' : 'lost')));
    const call = journal.create({ ...order, partner_order_id: `A-${index}` });
    await call.catch(() => failures++);
    fates.length = 0;
    clock.now += 1000;
  }
  clock.now += 120_000;
  expect(failures).toBeGreaterThan(50);
  for (const { state } of await journal.unsettled()) expect(state).toBe('not-sent');
  for (let index = 0; index < 400; index++) {
    const id = `A-${index}`;
    const state = (await other.get(id))?.state;
    expect({ id, state }).toEqual({
      id,
      state: service.requests.includes(id) ? 'accepted' : state === undefined ? undefined : 'not-sent',
    });
  }
  expect(new Set(service.requests).size).toBe(service.requests.length);
});
