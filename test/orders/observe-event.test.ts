import { describe, expect, it, vi } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { isOrderError } from '../../src/errors/errors.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderJournalOptions } from '../../src/orders/journal-options.ts';
import { refusedEvent } from '../../src/orders/named-order.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { bases } from '../deployment/bases.ts';
import { buyCreditedBody, buyFiatReceivedBody, buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import { allRecords, bench, credentials, event, idsOf, named, order } from './service.ts';

const elsewhere = 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2';
const mismatch = { code: 'order_mismatch' };

/** A journal with an order whose reply was accepted, or lost. */
async function ordered(answer: 'ok' | 'lost' = 'ok', options: Partial<OrderJournalOptions> = {}) {
  const made = bench({ onMismatch: () => {}, ...options });
  made.service.next.push(answer);
  await made.journal.create(order);
  return made;
}

/** The body of an event, signed by a partner. */
function signed(body: JsonObject, owner: PartnerCredentials = credentials): string {
  const { signature: _, ...unsigned } = body;
  return signBody(unsigned, { key: signingKey(owner, 'order') }).text;
}

describe('an event', () => {
  it('settles an order whose reply was lost, once', async () => {
    const { journal, service } = await ordered('lost');
    expect(await journal.observe(event())).toMatchObject({
      result: 'accepted',
      order: { state: 'accepted', evidence: 'event' },
    });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
    expect(service.requests).toHaveLength(1);
    expect(await journal.observe(event())).toMatchObject({ result: 'known' });
  });

  it.each([
    [{ status: 200 }, {}],
    [{ status: 500 }, {}],
    ['lost', {}],
    [{ status: 422 }, { contradiction: 'refused' }],
  ] as const)('that comes before the reply %j settles the order', async (answer, more) => {
    const warnings = processWarnings();
    const { journal, service, another } = bench();
    service.next.push(async () => {
      expect(await another().observe(event())).toMatchObject({ result: 'accepted' });
      if (answer === 'lost') throw new Error('reset');
      return Response.json({ ok: true }, answer);
    });
    const created = await journal.create(order);
    expect(created).toMatchObject({ state: 'accepted', order: { evidence: 'event', ...more } });
    expect('reply' in created).toBe(answer !== 'lost' && answer.status === 200);
    expect(created).not.toHaveProperty('error');
    expect(warnings()).toHaveLength(Object.keys(more).length);
  });

  it('of an order that the service was not thought to have is a contradiction: one warning, and no request', async () => {
    const warnings = processWarnings();
    const { journal, service } = bench();
    await journal.prepare(order);
    expect(await journal.observe(buyInitBody())).toMatchObject({
      ...{ result: 'contradiction', order: { state: 'accepted', contradiction: 'prepared' } },
    });
    expect(await journal.observe(buyCreditedBody())).toMatchObject({ result: 'known' });
    expect(warnings()).toEqual([
      expect.stringMatching(/^The service has order "A-1001", although it was prep/),
    ]);
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
    expect(service.requests).toEqual([]);
  });

  it('of an order that the journal does not have changes nothing', async () => {
    const { journal, store } = bench();
    expect(await journal.observe(event('other'))).toEqual({ result: 'unknown_order' });
    expect(await allRecords(store)).toEqual([]);
  });

  it('that names no order in a text is of none, with a warning where it names something', async () => {
    const warnings = processWarnings();
    const { journal, store } = bench();
    for (const body of [{}, { partner_order_id: null }, { partner_order_id: 7 }, { partner_order_id: '' }])
      expect(await journal.observe(body)).toEqual({ result: 'unknown_order' });
    expect(await allRecords(store)).toEqual([]);
    expect(warnings()).toEqual([
      'An order journal cannot tell which order an event is of: its partner_order_id is no text.',
    ]);
  });

  it('is no evidence if another partner has signed it, which is a warning', async () => {
    const warnings = processWarnings();
    const { journal, another, store, service } = await ordered('lost');
    const exchange = new ExchangeClient({
      ...{ deployment: defineDeployment(bases), fetch: service.fetch },
      credentials: { ...credentials, partnerId: 'P-2' },
    });
    const other = another({ exchange, prefix: 'other:' });
    await other.create(order, { merchant: 'ngn' });
    const before = await allRecords(store, 'orders:');
    const theirs = { key: { partnerId: 'P-2' } };
    expect(await journal.observe(buyInitBody(), theirs)).toEqual({ result: 'other_partner' });
    expect(await allRecords(store, 'orders:')).toEqual(before);
    expect(await other.observe(buyInitBody(), theirs)).toMatchObject({ result: 'known' });
    expect(await journal.observe(buyInitBody(), { key: { partnerId: 'P-1' } })).toMatchObject({
      result: 'accepted',
    });
    expect(warnings()).toEqual([expect.stringContaining('another partner than that of its order')]);
  });

  it('fails while the store is down, so that it is posted again', async () => {
    const { journal, store } = await ordered();
    await store.close();
    expect(await rejected(journal.observe(event()))).toMatchObject({ code: 'store_closed' });
  });

  it('leaves the timeline and the first of each name, and neither an address nor a buyer', async () => {
    const { journal, store } = await ordered();
    await journal.create(named('A-2'));
    for (const body of [buyInitBody(), buyInitBody(), buyFiatReceivedBody(), buyCreditedBody()])
      await journal.observe(body);
    const known = await journal.get('A-1001');
    expect(known).toMatchObject({
      timeline: { stage: 'credited', flags: [] },
      platform_order_ref: 'ref_7d41',
    });
    const names = ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto'];
    expect(known?.events?.map(({ name }) => name)).toEqual(names);
    const records = await allRecords(store);
    const text = JSON.stringify(records) + JSON.stringify(known);
    for (const personal of [order.buyer_crypto_address, order.buyer_phone, order.first_name, 'Ada'])
      expect(text).not.toContain(personal);
    // Two orders for one address cannot be told by it.
    const hashes = records.map(({ value }) => Object(Object(value).ordered).address).filter(Boolean);
    expect([hashes.length, new Set(hashes).size]).toEqual([2, 2]);
  });
});

describe('an unrecognized event', () => {
  it.each([
    ['of another name', { event_name: 'event.buy.error', partner_order_id: 'A-1001' }],
    ['of a published name that cannot be read', { ...event(), fiat_amount_to_pay: [] }],
  ])('%s is evidence, and a dead letter at once, or answered 500', async (_, body) => {
    const { journal, another } = await ordered('lost');
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const receive = (options: object, { observe } = journal) =>
      createWebhooks({ credentials, ...options })
        .onAny(observe)
        .onUnrecognized(observe)
        .receive(signed(body));
    expect(await receive({ inbox })).toMatchObject({ status: 200 });
    expect(await inbox.drain()).toMatchObject({ dead: 1 });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', evidence: 'event' });
    const reason = expect.stringContaining(body.event_name);
    expect(await inbox.deadLetters()).toMatchObject([{ reason, attempts: 1 }]);
    expect(await receive({}, another())).toMatchObject({ kind: 'unrecognized', status: 500 });
  });

  it.each([
    ['an order that it does not know', { partner_order_id: 'other' }],
    ['an order of another partner', { partner_order_id: 'A-1001' }],
    ['no order', { partner_order_id: null }],
  ])('is thrown for %s, too', async (_, body) => {
    const { journal } = await ordered();
    const unrecognized = { kind: 'unknown', name: 'event.buy.error', body } as const;
    const thrown = { code: 'event_unrecognized', assumptions: ['other-events'] };
    const context = { key: { partnerId: 'P-2' } };
    expect(await rejected(journal.observe(unrecognized, context))).toMatchObject(thrown);
    expect(await journal.get('A-1001')).not.toHaveProperty('events');
  });

  it('is none that names its order itself, whatever members it has besides', async () => {
    const { journal } = await ordered();
    const more = { kind: 'unknown', name: 'x', body: {} };
    expect(await journal.observe({ ...event(), ...more })).toMatchObject({ result: 'known' });
  });
});

describe('an event that differs from its order', () => {
  const credited = buyCreditedBody({ buyer_crypto_address: elsewhere });

  it('in its address is evidence, is rejected, and stays in sight until a person decides', async () => {
    const { journal, another } = await ordered('lost');
    const first = { digest: 'a'.repeat(64) };
    const error = await rejected(journal.observe(credited, first));
    expect(error).toMatchObject({
      ...mismatch,
      partner_order_id: 'A-1001',
      assumptions: ['event-matches-order'],
    });
    expect(String(error)).not.toContain(elsewhere);
    const known = await another().get('A-1001');
    expect(known).toMatchObject({
      ...{ state: 'accepted', evidence: 'event', attention: 'mismatch' },
      ordered: { chain: 'usdt-trc20', fiat_currency: 'NGN', fiat_amount: '15000.50' },
      events: [{ digest: first.digest, differences: [{ member: 'buyer_crypto_address' }] }],
    });
    // No handler acted on it.
    expect(known?.timeline).toBeUndefined();
    expect(await journal.health()).toMatchObject({ mismatches: 1, unsettled: 0 });
    expect(await idsOf(journal.list({ attention: true }))).toEqual(['A-1001']);

    const note = 'The buyer has moved, ticket 7.';
    expect(await rejected(journal.settle('A-1001', 'accepted', note))).toMatchObject({
      code: 'undecided_events',
    });
    // It came after the person had looked.
    const second = { digest: 'b'.repeat(64) };
    expect(await rejected(another().observe(credited, second))).toMatchObject(mismatch);
    expect(await journal.settle('A-1001', 'accepted', note, { events: [first.digest] })).toMatchObject({
      ...{ attention: 'mismatch', events: [{ decision: { note, verdict: 'accepted' } }, {}] },
    });
    const settled = await journal.settle('A-1001', 'rejected', 'Not ours.', { events: [second.digest] });
    expect(settled).toMatchObject({ state: 'accepted', evidence: 'event' });
    expect(settled).not.toHaveProperty('attention');
    expect(await rejected(another().observe(credited, second))).toMatchObject(mismatch);
    expect(await another().observe(credited, first)).toMatchObject({
      ...{ result: 'known', order: { timeline: { stage: 'credited' } } },
    });
    expect(await idsOf(journal.list({ attention: true }))).toEqual([]);
    // Another one is a new one.
    expect(await rejected(another().observe(credited, { digest: 'c'.repeat(64) }))).toMatchObject(mismatch);
  });

  it('in its chain passes, and onMismatch is called, which may fail', async () => {
    const warnings = processWarnings();
    const onMismatch = vi.fn(() => Promise.reject(new Error('no pager')));
    const { journal, another } = await ordered('ok', { onMismatch });
    await journal.observe(event());
    await nextTurn();
    expect(onMismatch).not.toHaveBeenCalled();
    const moved = buyInitBody({ chain: 'usdc-matic' });
    const differences = [{ member: 'chain', ordered: 'usdt-trc20', reported: 'usdc-matic' }];
    const order = { attention: 'mismatch', timeline: { stage: 'initialised' } };
    expect(await journal.observe(moved)).toMatchObject({ result: 'known', differences, order });
    await nextTurn();
    expect(onMismatch.mock.calls).toMatchObject([[{ partner_order_id: 'A-1001' }, { differences }]]);
    expect(warnings()).toEqual(['onMismatch of createOrderJournal failed; nothing else is affected.']);
    expect(await rejected(another({ rejectMismatch: 'any' }).observe(moved))).toMatchObject(mismatch);
  });

  it('is one warning where there is no onMismatch', async () => {
    const warnings = processWarnings();
    const { journal } = bench();
    await journal.create(order);
    for (let repeated = 0; repeated < 2; repeated++)
      await journal.observe(buyInitBody({ chain: 'usdc-matic' }));
    await nextTurn();
    expect(warnings()).toEqual([expect.stringContaining('differs from its order')]);
  });

  it('is compared as sameOrder of the deployment says', async () => {
    const sameOrder = (_: unknown, { pair }: JsonObject) => pair !== 'NGN/EUSD' && undefined;
    const { service } = bench();
    const deployment = defineDeployment({ ...bases, sameOrder });
    const exchange = new ExchangeClient({ deployment, credentials, fetch: service.fetch });
    const { journal } = await ordered('ok', { exchange });
    await journal.observe(buyInitBody());
    expect(await rejected(journal.observe(buyFiatReceivedBody({ pair: 'NGN/EUSD' })))).toMatchObject(
      mismatch,
    );
    expect((await journal.get('A-1001'))?.events?.at(-1)?.differences).toEqual([{ member: 'order' }]);
  });

  it('that is rejected reaches no handler behind onAny until a person accepts it and replays it', async () => {
    const { journal } = await ordered();
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const paid: string[] = [];
    const webhooks = createWebhooks({ credentials, inbox, onError: () => {} })
      .on('event.buy.credited.crypto', ({ partner_order_id: id }) => paid.push(id))
      .onAny(journal.observe);
    expect(await webhooks.receive(signed(credited))).toMatchObject({ status: 200 });
    expect(await inbox.drain()).toMatchObject({ dead: 1 });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ attempts: 1, reason: expect.stringContaining('buyer_crypto_address') });
    const digest = letter?.digest ?? '';
    expect((await journal.get('A-1001'))?.events?.[0]?.digest).toBe(digest);
    expect(paid).toEqual([]);

    await journal.settle('A-1001', 'accepted', 'It is right.', { events: [digest] });
    await inbox.replay(digest);
    expect(await inbox.drain()).toMatchObject({ handled: 1 });
    expect(paid).toEqual(['A-1001']);
  });
});

describe('refusedEvent', () => {
  it('makes a dead letter of the event at the first attempt, which no later handler sees', async () => {
    const { journal } = bench();
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const paid: string[] = [];
    const webhooks = createWebhooks({ credentials, inbox, onError: () => {} })
      .on('event.buy.credited.crypto', ({ partner_order_id: id }) => paid.push(id))
      .onAny(async (observed, context) => {
        const { result } = await journal.observe(observed, context);
        if (result === 'unknown_order') throw refusedEvent(observed, 'no order of this shop');
      });
    expect(await webhooks.receive(signed(buyCreditedBody()))).toMatchObject({ status: 200 });
    expect(await inbox.drain()).toMatchObject({ dead: 1 });
    const reason = expect.stringContaining('no order of this shop');
    expect(await inbox.deadLetters()).toMatchObject([{ attempts: 1, reason }]);
    expect(paid).toEqual([]);
  });

  it('names the order, and holds nothing else of the event', () => {
    const unrecognized = { kind: 'unknown', name: 'n', body: { partner_order_id: 'A\n9' } } as const;
    const error = refusedEvent(unrecognized, `x\u001b${'y'.repeat(500)}`);
    expect(isOrderError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'order_mismatch', partner_order_id: 'A\n9', state: undefined });
    expect(error.message).toContain('order "A\\n9" was refused by a handler: x');
    expect(error.message).not.toContain('\u001b');
    expect(error.message.length).toBeLessThan(500);
    expect(refusedEvent({}, 'x').partner_order_id).toBe('');
  });
});
