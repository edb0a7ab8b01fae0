import { describe, expect, it, vi } from 'vitest';
import type { OrderSender } from '../../src/orders/journal-options.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { buyCreditedBody, buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import { allRecords, bench, errorOf, event, order, ringBench } from './service.ts';

const named = (partner_order_id: string) => ({ ...order, partner_order_id });
const idsOf = async (orders: AsyncIterable<JournaledOrder>) => {
  const ids: string[] = [];
  for await (const { partner_order_id } of orders) ids.push(partner_order_id);
  return ids.toSorted();
};

describe('create', () => {
  it('throws, and writes nothing, when keys are missing: the order is not refused', async () => {
    const { journal, store } = bench();
    expect(await rejected(journal.create(order, { merchant: 'none' }))).toMatchObject({
      code: 'invalid_credentials',
    });
    expect(await allRecords(store)).toEqual([]);
    const unread = ringBench(401, { key: 'new' }, { now: new Error('down') });
    expect(await rejected(unread.journal.create(order))).toMatchObject({ code: 'keys_unavailable' });
    expect(await allRecords(unread.store)).toEqual([]);
  });

  it('throws for an order without an id', async () => {
    const { journal } = bench();
    const { partner_order_id, ...nameless } = order;
    // Sound: the schema refuses it.
    expect(await rejected(journal.create(nameless as typeof order))).toMatchObject({ code: 'invalid_input' });
  });
});

describe('an order whose outcome is unknown', () => {
  it('is never sent again where a client of one’s own says nothing of duplicates', async () => {
    let requests = 0;
    const send = async () => {
      requests++;
      throw new Error('mine');
    };
    const exchange: OrderSender = {
      prepareOrder: async () => ({ payload: { ...order }, partnerId: undefined, send }),
    };
    const journal = bench().another({ exchange });
    await journal.create(order);
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'outcome_unknown' });
    expect(requests).toBe(1);
  });
});

describe('observe', () => {
  it.each([{}, { partner_order_id: null }])('finds no order in a body that is %j', async (body) => {
    const { journal } = bench();
    await journal.create(order);
    const observed = { kind: 'unknown', name: 'n', body } as const;
    expect(await rejected(journal.observe(observed))).toMatchObject({ code: 'event_unrecognized' });
    expect(await journal.get('A-1001')).not.toHaveProperty('events');
  });

  it('warns of an event whose order nobody can tell', async () => {
    const warnings = processWarnings();
    await bench().journal.observe({ partner_order_id: 7 });
    expect(warnings()).toEqual([
      'An order journal cannot tell which order an event is of: its partner_order_id is no text.',
    ]);
  });

  it('warns of an event about an order of another partner', async () => {
    const warnings = processWarnings();
    const { journal } = bench();
    await journal.create(order);
    await journal.observe(event(), { key: { partnerId: 'P-2' } });
    expect(warnings()).toEqual([expect.stringContaining('another partner than that of its order')]);
  });

  it('warns of a contradiction once, however many events follow', async () => {
    const warnings = processWarnings();
    const { journal, service } = bench();
    service.next.push({ status: 422 });
    await journal.create(order);
    await journal.observe(buyInitBody());
    await journal.observe(buyCreditedBody());
    expect(await journal.get('A-1001')).toMatchObject({ contradiction: 'refused' });
    expect(warnings()).toEqual([
      expect.stringMatching(/^The service has order "A-1001", although it was refused/),
    ]);
  });

  it('calls onMismatch for an event that differs, and for no other', async () => {
    const onMismatch = vi.fn();
    const { journal } = bench({ onMismatch });
    await journal.create(order);
    await journal.observe(event());
    await nextTurn();
    expect(onMismatch).not.toHaveBeenCalled();
    await journal.observe(buyInitBody({ chain: 'usdc-matic' }));
    await nextTurn();
    expect(onMismatch.mock.calls).toMatchObject([
      [{ partner_order_id: 'A-1001' }, { differences: [{ member: 'chain' }] }],
    ]);
  });

  it('passes the event when onMismatch fails, with a warning', async () => {
    const warnings = processWarnings();
    const onMismatch = () => Promise.reject(new Error('no pager'));
    const { journal } = bench({ onMismatch });
    await journal.create(order);
    expect(await journal.observe(buyInitBody({ chain: 'usdc-matic' }))).toMatchObject({ result: 'known' });
    await nextTurn();
    expect(warnings()).toEqual(['onMismatch of createOrderJournal failed; nothing else is affected.']);
  });
});

describe('list', () => {
  it('has every order', async () => {
    const { journal, service } = bench();
    service.next.push({ status: 422 }, 'lost');
    for (const id of ['refused', 'unknown', 'accepted']) await journal.create(named(id));
    expect(await idsOf(journal.list())).toEqual(['accepted', 'refused', 'unknown']);
  });
});

describe('the reason for an address, and the note of a person', () => {
  const longest = 'x'.repeat(1_000);

  it('may have 1,000 characters', async () => {
    const { journal, service } = bench();
    service.next.push('lost');
    const { order: sent } = await journal.create(order, { acceptAddress: longest });
    expect(sent).toMatchObject({ acceptAddress: longest });
    expect(await journal.settle('A-1001', 'abandoned', longest)).toMatchObject({ note: longest });
  });

  it('is refused by name if it is longer or empty', async () => {
    const { journal } = bench();
    for (const text of ['', `${longest}x`]) {
      expect(String(await rejected(journal.create(order, { acceptAddress: text })))).toContain(
        'acceptAddress must be a text of 1 to 1000 characters.',
      );
      expect(String(await rejected(journal.settle('A-1001', 'accepted', text)))).toContain(
        'The note must be a text of 1 to 1000 characters.',
      );
    }
  });
});

describe('the arguments', () => {
  it('are refused by name', async () => {
    const { journal, another } = bench();
    expect(String(await rejected(journal.get('')))).toContain('The partner_order_id must be a text.');
    // Sound: it is refused.
    expect(String(await rejected(journal.settle('A-1', 'refused' as never, 'x')))).toContain(
      "The decision must be 'accepted' or 'abandoned' or 'rejected'.",
    );
    for (const [decision, options] of [
      ['rejected', {}],
      ['abandoned', { events: ['d'] }],
      ['accepted', { events: [] }],
      ['accepted', { events: 'd' as never }],
      ['accepted', { event: ['d'] } as object],
    ] as const)
      expect(await rejected(journal.settle('A-1', decision, 'x', options))).toMatchObject({
        code: 'invalid_option',
      });
    // Sound, too.
    for (const exchange of [{}, null, undefined])
      expect(() => another({ exchange: exchange as never })).toThrow('exchange must be an ExchangeClient.');
  });
});
