import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { rejected } from '../support/refusal.ts';
import { allOf } from './records-bench.ts';
import { bench, credentials, errorOf, event, order } from './service.ts';

/** The warnings about an order during a test. Files share a process: an inbox that another file left running warns, too. */
let warnings: string[] = [];
const keep = ({ message }: Error) => {
  if (/\border\b/i.test(message)) warnings.push(message);
};
beforeEach(() => {
  warnings = [];
  process.on('warning', keep);
});
afterEach(() => process.off('warning', keep));

describe.each(storeKinds())('observe, over $name', ({ open }) => {
  it('settles an order whose reply was lost', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('lost');
    await journal.create(order);
    expect(await journal.observe(event())).toMatchObject({
      result: 'accepted',
      order: { state: 'accepted', evidence: 'event', platform_order_ref: 'ref_7d41' },
    });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
    expect(service.requests).toHaveLength(1);
    expect(await journal.observe(event())).toMatchObject({ result: 'known' });
  });

  it.each([
    ['2xx', { status: 200 }, { reply: { status: 200 } }],
    ['a server error', { status: 500 }, {}],
    ['a lost reply', 'lost', {}],
  ] as const)('an event before the reply settles the order: %s', async (_, answer, expected) => {
    const { journal, service, another } = bench({}, open);
    service.next.push(async () => {
      expect(await another().observe(event())).toMatchObject({ result: 'accepted' });
      if (answer === 'lost') throw new Error('reset');
      return Response.json({ ok: true }, answer);
    });
    const created = await journal.create(order);
    expect(created).toMatchObject({
      order: { state: 'accepted', evidence: 'event' },
      ...expected,
    });
    expect('reply' in created).toBe('reply' in expected);
    expect(created).not.toHaveProperty('error');
    expect(created.order).not.toHaveProperty('contradiction');
    expect(warnings).toEqual([]);
  });

  it('a refusal after an event is a contradiction: the order exists', async () => {
    const { journal, service, another } = bench({}, open);
    service.next.push(async () => {
      await another().observe(event());
      return Response.json({ ok: true }, { status: 422 });
    });
    const created = await journal.create(order);
    expect(created.order).toMatchObject({ evidence: 'event', status: 422, contradiction: 'refused' });
    expect(created).toEqual({ state: 'accepted', order: created.order });
    await vi.waitFor(() => expect(warnings.join()).toContain('"A-1001"'));
  });

  it.each([
    ['refused', { status: 400 }],
    ['not-sent', 'not-sent'],
  ] as const)('an event of an order that is %s is a contradiction, and settles it', async (state, answer) => {
    const { journal, service } = bench({}, open);
    service.next.push(answer);
    await journal.create(order);
    expect(await journal.observe(event())).toMatchObject({
      result: 'contradiction',
      order: { state: 'accepted', evidence: 'event', contradiction: state },
    });
    await vi.waitFor(() => expect(warnings.join()).toContain(`although it was ${state}`));
    expect(await journal.observe(event())).toMatchObject({ result: 'known' });
    const requests = service.requests.length;
    expect(await journal.create(order, { again: true })).toMatchObject({ state: 'accepted' });
    expect(service.requests).toHaveLength(requests);
  });

  it('an event of a prepared order is a contradiction: it is never sent', async () => {
    const { journal, service } = bench({}, open);
    await journal.prepare(order);
    expect(await journal.observe(event())).toMatchObject({
      result: 'contradiction',
      order: { contradiction: 'prepared' },
    });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
    expect(service.requests).toEqual([]);
    expect(await journal.unsettled()).toEqual([]);
  });

  it('an event of an order that was given up is a contradiction', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('lost');
    await journal.create(order);
    await journal.settle('A-1001', 'abandoned', 'The service has none.');
    expect(await journal.observe(event())).toMatchObject({
      result: 'contradiction',
      order: { state: 'accepted', evidence: 'event', contradiction: 'abandoned' },
    });
  });

  it('an event of an order that it does not know is reported, and leaves its id for reconcile', async () => {
    const { journal, store, clock } = bench({}, open);
    expect(await journal.observe(event('other'))).toEqual({ result: 'unknown_order' });
    expect(await store.list({ prefix: '', limit: 10 })).toMatchObject([
      { value: { stray: { partner_order_id: 'other', name: 'event.buy.init' } } },
    ]);
    expect(await allOf(journal.reconcile({ since: 0 }))).toMatchObject([
      { kind: 'event_without_order', partner_order_id: 'other' },
    ]);
    clock.now += 30 * 86_400_000;
    for (const strange of [{}, { partner_order_id: null }, { body: {} }]) {
      expect(await journal.observe(strange)).toEqual({ result: 'unknown_order' });
    }
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
  });

  it('finds no order in an event whose partner_order_id is no text', async () => {
    const { journal, store } = bench({}, open);
    for (const given of [7, ['A-1001'], { id: 'A-1001' }, ''])
      expect(await journal.observe({ partner_order_id: given })).toEqual({ result: 'unknown_order' });
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
  });

  it('is all that a receiver needs: passed as it is, for known and unfamiliar events', async () => {
    let webhooks: Webhooks | undefined;
    const sandbox = createSandbox({
      whitelist: 'off',
      fetch: async (input, init) =>
        (await webhooks?.fetch(new Request(input, init))) ?? new Response(null, { status: 404 }),
    });
    const { deployment, fetch } = sandbox;
    const onboarding = new ExchangeClient({ deployment, fetch });
    await onboarding.onboard({ partner_code: 'acme', email: 'dev@acme.example' });
    const issued = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
    const exchange = new ExchangeClient({ deployment, fetch, credentials: issued });
    const { store } = bench();
    const journal = createOrderJournal({ exchange, store });
    webhooks = createWebhooks({ credentials: issued, deployment })
      .onAny(journal.observe)
      .onUnrecognized(journal.observe);

    sandbox.faults.plan('createOrder', 'reply_lost');
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'unknown' });
    await sandbox.idle();
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', evidence: 'event' });

    sandbox.faults.plan('createOrder', { kind: 'server_error', when: 'before' });
    const second = { ...order, partner_order_id: 'A-2' };
    expect(await errorOf(journal.create(second))).toMatchObject({ outcome: 'unknown' });
    const unfamiliar = { event_name: 'event.buy.error', partner_order_id: 'A-2' };
    const { text } = signBody(unfamiliar, { key: signingKey(issued, 'order') });
    expect(await webhooks.receive(text)).toMatchObject({ kind: 'unrecognized', status: 500 });
    expect(await journal.get('A-2')).toMatchObject({ state: 'accepted', evidence: 'event' });
  });

  it.each([
    ['of another name', { event_name: 'event.buy.error', partner_order_id: 'A-1001' }],
    ['of a published name that cannot be read', { ...event(), fiat_amount_to_pay: [] }],
  ])('takes the evidence of an event %s, which becomes a dead letter at once', async (_, unfamiliar) => {
    const { journal, service } = bench();
    service.next.push('lost');
    await journal.create(order);
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const webhooks = createWebhooks({ credentials, inbox })
      .onAny(journal.observe)
      .onUnrecognized(journal.observe);
    const { text } = signBody(unfamiliar, { key: signingKey(credentials, 'order') });
    expect(await webhooks.receive(text)).toMatchObject({ status: 200 });
    await inbox.drain();
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', evidence: 'event' });
    expect(await inbox.counts()).toMatchObject({ open: 0, dead: 1 });
    expect(await inbox.deadLetters()).toMatchObject([
      { reason: expect.stringContaining(unfamiliar.event_name), attempts: 1 },
    ]);
  });

  it.each([
    ['an order that it does not know', { partner_order_id: 'other' }],
    ['an order of another partner', { partner_order_id: 'A-1001' }],
    ['no order', {}],
    ['an id that is no text', { partner_order_id: 7 }],
  ])('throws an unrecognized event of %s, too', async (_, body) => {
    const { journal } = bench();
    await journal.create(order);
    const thrown = { code: 'event_unrecognized', assumptions: ['other-events'] };
    const unrecognized = { kind: 'unknown' as const, name: 'event.buy.error', body };
    const context = { key: { partnerId: 'P-2' } };
    expect(await rejected(journal.observe(unrecognized, context))).toMatchObject(thrown);
    expect(await journal.get('A-1001')).toMatchObject({ awaitingEventSince: expect.any(Number) });
  });

  it('does not take a published event for an unrecognized one, whatever members it has besides', async () => {
    const { journal } = bench();
    await journal.create(order);
    const more = { kind: 'unknown', name: 'x', body: {} };
    expect(await journal.observe({ ...event(), ...more })).toMatchObject({ result: 'known' });
  });

  it('in a receiver for several partners lets none settle an order of another', async () => {
    const { journal, service } = bench();
    service.next.push('lost');
    await journal.create(order);
    const rival = {
      partnerPublicKey: 'pk_partner_rival',
      partnerSecretKey: 'sk_partner_rival',
      merchantSecretKey: 'sk_merchant_rival',
      partnerCode: 'rival',
    };
    const webhooks = createWebhooks({ credentials: [credentials, rival] })
      .onAny(journal.observe)
      .onUnrecognized(journal.observe);
    const signedBy = (owner: PartnerCredentials) =>
      signBody(event(), { key: signingKey(owner, 'order') }).text;
    // The event lacks most members, so it is evidence alone.
    const observed = { kind: 'unrecognized', status: 500 };
    expect(await webhooks.receive(signedBy(rival))).toMatchObject(observed);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'unknown' });
    expect(await webhooks.receive(signedBy(credentials))).toMatchObject(observed);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', evidence: 'event' });
  });

  it('is answered with 500 while the store is down, so that the event comes again', async () => {
    const { journal, store } = bench();
    await journal.create(order);
    await store.close();
    expect(await rejected(journal.observe(event()))).toMatchObject({ code: 'store_closed' });
  });

  it('keeps of a reference only what a record may hold', async () => {
    const { journal, service } = bench();
    service.next.push('lost');
    await journal.create(order);
    // The limit of 200 cuts the last character in two.
    const platform_order_ref = `\0\ud800${'x'.repeat(197)}😀${'x'.repeat(500)}`;
    const { order: settled } = await journal.observe({ ...event(), platform_order_ref });
    expect(settled?.platform_order_ref).toBe(`\ufffd\ufffd${'x'.repeat(197)}\ufffd`);
  });
});
