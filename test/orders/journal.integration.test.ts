import { createServer } from 'node:net';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { type BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { StoreError } from '../../src/errors/errors.ts';
import type { CreateOrderOptions, OrderJournal } from '../../src/orders/journal-types.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { bases } from '../deployment/bases.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { listening } from '../support/listening.ts';
import { rejected } from '../support/refusal.ts';
import { untilTestEnds } from '../support/until-test-ends.ts';
import {
  allRecords,
  bench,
  credentials,
  errorOf,
  event,
  exchangeOf,
  fakeService,
  order,
  senderOf,
} from './service.ts';

const changed = { ...order, fiat_amount: '16000' };

describe.each(storeKinds())('create, over $name', ({ open }) => {
  it('sends a new order and returns the reply', async () => {
    const { journal, service } = bench({}, open);
    const created = await journal.create(order);
    expect(created).toMatchObject({
      reply: { status: 200, body: { ok: true } },
      order: { partner_order_id: 'A-1001', state: 'accepted', evidence: 'reply', status: 200, attempts: 1 },
    });
    expect(service.requests).toEqual(['A-1001']);
  });

  it('commits the intent before the request', async () => {
    const { journal, service, another } = bench({}, open);
    let seen: unknown;
    service.next.push(async () => {
      seen = await another().get('A-1001');
      return Response.json({ ok: true });
    });
    await journal.create(order);
    expect(seen).toMatchObject({ state: 'sending', attempts: 1, leaseUntil: 1_700_000_120_000 });
  });

  it('returns an accepted order without a request, also with its members in another order', async () => {
    const { journal, service, another } = bench({}, open);
    await journal.create(order);
    const turned = Object.fromEntries(Object.entries(order).reverse()) as typeof order;
    const again = await another().create({ ...turned, markup_fee: undefined });
    expect(again).toMatchObject({ state: 'accepted', order: { state: 'accepted' } });
    expect(service.requests).toEqual(['A-1001']);
  });

  it('refuses another payload or merchant under the same id', async () => {
    const { journal, service } = bench({}, open);
    await journal.create(order);
    expect(await rejected(journal.create(changed))).toMatchObject({ code: 'different_order' });
    expect(await rejected(journal.create(order, { merchant: 'ngn' }))).toMatchObject({
      code: 'different_order',
      state: 'accepted',
      partner_order_id: 'A-1001',
    });
    expect(service.requests).toHaveLength(1);
  });

  it('says in_progress while another process is sending, and for how long at most', async () => {
    const { journal, service, another, clock } = bench({}, open);
    let second: unknown;
    service.next.push(async () => {
      clock.now += 20_000;
      second = await errorOf(another().create(order));
      return Response.json({ ok: true });
    });
    await journal.create(order);
    expect(second).toMatchObject({ code: 'in_progress', state: 'sending', retryAfterMs: 100_000 });
    expect(String(second)).toContain(
      'Nothing was sent now: wait for the result, or 100 s until the order becomes unknown.',
    );
    expect(service.requests).toHaveLength(1);
  });

  it('resolves with what a lost reply says, and never sends the order again', async () => {
    const { journal, service, clock } = bench({}, open);
    service.next.push('lost');
    expect(await errorOf(journal.create(order))).toMatchObject({
      code: 'network_error',
      outcome: 'unknown',
    });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'unknown', failure: 'network_error' });
    clock.now += 10 * 86_400_000;
    expect(await errorOf(journal.create(order))).toMatchObject({
      code: 'outcome_unknown',
      assumptions: ['partner-order-id'],
    });
    expect(await errorOf(journal.create(order, { again: true }))).toMatchObject({
      code: 'outcome_unknown',
    });
    expect(await rejected(journal.create(changed))).toMatchObject({ code: 'different_order' });
    expect(service.requests).toHaveLength(1);
  });

  it('sends what was not sent again, changed with replace alone', async () => {
    const { journal, service } = bench({}, open);
    service.next.push('not-sent', 'not-sent');
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'not-sent' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'not-sent', failure: 'connection_failed' });
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'not-sent' });
    expect(await rejected(journal.create(changed))).toMatchObject({ code: 'different_order' });
    expect(service.requests).toEqual([]);
    expect(await journal.create(changed, { replace: true })).toMatchObject({
      order: { state: 'accepted', attempts: 3, ordered: { fiat_amount: changed.fiat_amount } },
    });
    expect(service.requests).toHaveLength(1);
  });

  it('sends what was refused again only replaced, or on demand', async () => {
    const { journal, service } = bench({}, open);
    service.next.push({ status: 422 }, { status: 422 }, { status: 403 });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'http_error', outcome: 'refused' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'refused', status: 422 });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_refused', state: 'refused' });
    expect(service.requests).toHaveLength(1);
    expect(await rejected(journal.create(changed, { again: true }))).toMatchObject({
      code: 'different_order',
    });
    expect(await errorOf(journal.create(changed, { replace: true }))).toMatchObject({ outcome: 'refused' });
    expect(await errorOf(journal.create(changed, { again: true }))).toMatchObject({ status: 403 });
    expect(await journal.create(order, { replace: true })).toMatchObject({
      order: { state: 'accepted', attempts: 4 },
    });
  });

  it('is unknown once the lease of a process that died has expired, and is not sent again', async () => {
    const { journal, service, another, clock } = bench({ leaseMs: 5000 }, open);
    service.next.push(untilTestEnds);
    journal.create(order).catch(() => {});
    await expect.poll(() => service.requests.length).toBe(1);
    clock.now += 4999;
    expect(await another().get('A-1001')).toMatchObject({ state: 'sending' });
    clock.now += 1;
    const seen = await another().get('A-1001');
    expect(seen).toMatchObject({ state: 'unknown' });
    expect(seen).not.toHaveProperty('leaseUntil');
    expect(await another().create(order)).toMatchObject({
      ...{ state: 'unknown', error: { code: 'outcome_unknown', state: 'unknown' } },
    });
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    ['2xx', 'ok', { state: 'accepted' }],
    ['a refusal', { status: 400 }, { state: 'refused' }],
    ['a server error', { status: 502 }, { state: 'unknown' }],
  ] as const)('a reply after the lease has expired counts: %s', async (_, answer, expected) => {
    const { journal, service, another, clock } = bench({ leaseMs: 5000 }, open);
    service.next.push(async () => {
      clock.now += 60_000;
      expect(await another().get('A-1001')).toMatchObject({ state: 'unknown' });
      return answer === 'ok' ? Response.json({ ok: true }) : new Response(null, answer);
    });
    await journal.create(order);
    expect(await journal.get('A-1001')).toMatchObject(expected);
  });

  it('keeps the orders of two prefixes apart', async () => {
    const { journal, service, another } = bench({}, open);
    await journal.create(order);
    await another({ prefix: 'other-partner:' }).create(order);
    expect(service.requests).toHaveLength(2);
  });
});

describe('create', () => {
  it('writes nothing about an order that is not valid, or of which the keys are missing', async () => {
    const { journal, store, service } = bench();
    const wrong = { ...order, fiat_amount: '-1' };
    expect(await rejected(journal.create(wrong))).toMatchObject({ code: 'invalid_input' });
    expect(await rejected(journal.create(order, { merchant: 'none' }))).toMatchObject({
      code: 'invalid_credentials',
    });
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
    expect(service.requests).toEqual([]);
  });

  it('refuses options that do not exist', async () => {
    const { journal } = bench();
    // @ts-expect-error
    const failure = await rejected(journal.create(order, { agian: true }));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('"again"') });
    // @ts-expect-error
    expect(await rejected(journal.create(order, { again: 'yes' }))).toMatchObject({
      code: 'invalid_option',
    });
  });

  it('has not sent an order if the call was aborted', async () => {
    const { journal, service } = bench();
    const signal = AbortSignal.abort();
    expect(await errorOf(journal.create(order, { signal }))).toMatchObject({ code: 'aborted' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'not-sent', failure: 'aborted' });
    expect(service.requests).toEqual([]);
  });

  it('may have sent an order if a client of one’s own fails in a store afterwards', async () => {
    const { another, store } = bench();
    const error = new StoreError('store_failed', 'full');
    const exchange = {
      prepareOrder: async () => ({
        payload: { ...order },
        partnerId: undefined,
        async send() {
          throw error;
        },
      }),
    };
    const journal = another({ exchange, store });
    expect(await errorOf(journal.create(order))).toBe(error);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'unknown', failure: 'store_failed' });
  });

  it('passes merchant and schema on, and types the reply by the schema', async () => {
    const { journal, service } = bench();
    service.next.push({ status: 200, body: { ref: 'r-1' } });
    const schema = z.object({ ref: z.string() });
    const { reply, order: journaled } = await journal.create(order, { merchant: 'ghs', schema });
    expectTypeOf(reply?.body).toEqualTypeOf<{ ref: string } | undefined>();
    expect(reply?.body).toEqual({ ref: 'r-1' });
    expect(journaled.merchant).toBe('ghs');
    const untyped: Awaited<ReturnType<OrderJournal['create']>> = await journal.create(order, {
      merchant: 'ghs',
    });
    expectTypeOf(untyped.reply?.body).toEqualTypeOf<unknown>();
  });

  it('is unknown if the 2xx does not fit the schema: maybe it says that nothing was done', async () => {
    const { journal } = bench();
    const schema = z.object({ ref: z.string() });
    expect(await errorOf(journal.create(order, { schema }))).toMatchObject({ code: 'reply_nonconforming' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'unknown', status: 200 });
  });

  it.each([
    ['of a client of your own', new Error('mine'), 'other'],
    [
      'of a store, which may fail after the order was sent,',
      new StoreError('store_failed', 'failed'),
      'store_failed',
    ],
  ])('takes an error %s for unknown', async (_, failure, code) => {
    const exchange = { prepareOrder: async () => prepared };
    const prepared = { payload: { ...order }, partnerId: undefined, send: () => Promise.reject(failure) };
    const { another } = bench();
    expect(await errorOf(another({ exchange }).create(order))).toBe(failure);
    expect(await another().get('A-1001')).toMatchObject({ state: 'unknown', failure: code });
  });

  it('needs an id that is a text', async () => {
    const { another, store } = bench();
    const exchange = {
      prepareOrder: async () => ({
        payload: { partner_order_id: 7 },
        partnerId: undefined,
        send: () => Promise.reject(new Error()),
      }),
    };
    expect(await rejected(another({ exchange }).create(order))).toMatchObject({
      code: 'invalid_input',
      issues: [{ path: ['partner_order_id'] }],
    });
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
  });

  it('takes any text for an id', async () => {
    const { journal, service } = bench();
    const ids = ['ä 🚀 "\\', '\ud800', '\ud801', 'x'.repeat(5000), '\0', '__proto__'];
    for (const partner_order_id of ids) await journal.create({ ...order, partner_order_id });
    expect(service.requests).toEqual(ids);
    for (const id of ids) expect(await journal.get(id)).toMatchObject({ partner_order_id: id });
  });

  it('knows an order by what its schema makes of it, whatever the wire names', async () => {
    const service = fakeService();
    const { another } = bench();
    const orderSchema = reportedBuyOrder.extend({ fee: z.string().default('0') });
    const journalWith = (wireNames: { platform_merchant_id?: string }) => {
      const deployment = defineDeployment({ ...bases, orderSchema, wireNames });
      const exchange = new ExchangeClient({ deployment, credentials, fetch: service.fetch });
      return another({ exchange });
    };
    const withMerchant = { ...order, platform_merchant_id: 'm-1' };
    await journalWith({}).create(withMerchant);
    const renamed = journalWith({ platform_merchant_id: 'acme_merchant' });
    expect(await renamed.create({ ...withMerchant, fee: '0' } as typeof order)).toMatchObject({
      state: 'accepted',
    });
    expect(await rejected(renamed.create({ ...withMerchant, fee: '1' } as typeof order))).toMatchObject({
      code: 'different_order',
    });
  });

  it('sends an order again only if it was not sent, which the client does within one attempt of the journal', async () => {
    const service = fakeService();
    service.next.push('not-sent', 'ok');
    const exchange = new ExchangeClient({
      deployment: defineDeployment(bases),
      credentials,
      fetch: service.fetch,
      retry: { firstDelayMs: 0 },
    });
    const { another } = bench();
    expect(await another({ exchange }).create(order)).toMatchObject({
      order: { state: 'accepted', attempts: 1 },
    });
    expect(service.requests).toHaveLength(1);
  });

  it('makes no second order of one that the service took and answered with 429, where orderStatuses says so', async () => {
    const sandbox = createSandbox({
      whitelist: 'off',
      duplicateOrders: 'second',
      fetch: async () => new Response(),
    });
    const { fetch } = sandbox;
    const deployment = defineDeployment({ ...sandbox.deployment, orderStatuses: { 429: 'unknown' } });
    await new ExchangeClient({ deployment, fetch }).onboard({
      partner_code: 'acme',
      email: 'dev@acme.example',
    });
    const keys = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
    const exchange = new ExchangeClient({ deployment, credentials: keys, fetch, retry: { firstDelayMs: 0 } });
    const journal = createOrderJournal({ exchange, store: memoryStore() });
    sandbox.faults.plan('createOrder', { kind: 'too_many_requests', when: 'after', retryAfterSeconds: 0 });
    expect(await errorOf(journal.create(order))).toMatchObject({ status: 429, outcome: 'unknown' });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'outcome_unknown' });
    expect(sandbox.orders).toHaveLength(1);
    await sandbox.idle();
    const [init] = sandbox.deliveries;
    await journal.observe(JSON.parse(init?.body ?? '{}'));
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted' });
  });

  it('forgets a settled order after rememberMs, an unsettled one never', async () => {
    const { journal, service, clock } = bench({ rememberMs: 1000 });
    service.next.push({ status: 422 }, 'lost');
    await journal.create(order);
    await journal.create({ ...order, partner_order_id: 'B' });
    clock.now += 1000;
    expect(await journal.get('A-1001')).toBeUndefined();
    expect(await journal.get('B')).toMatchObject({ state: 'unknown' });
    await journal.observe(event('B'));
    expect(await journal.get('B')).toMatchObject({ state: 'accepted' });
    clock.now += 1000;
    expect(await journal.get('B')).toBeUndefined();
  });

  it('writes the result also by a clock with fractions', async () => {
    const { another, clock } = bench({ rememberMs: 1000 });
    const journal = another({ now: () => clock.now + 0.5 });
    await journal.create(order);
    expect(await another().get('A-1001')).toMatchObject({ state: 'accepted', changedAt: clock.now });
  });

  it('works without this', async () => {
    const { create, get } = bench().journal;
    await create(order);
    expect(await get('A-1001')).toMatchObject({ state: 'accepted' });
  });
});

describe('orders that a service recognizes', () => {
  it.each(['refused', 'same-order'] as const)('%s: an unknown order is sent again', async (duplicateIds) => {
    const { journal, service } = bench({ duplicateIds });
    service.next.push('lost', 'ok');
    await journal.create(order);
    expect(await journal.create(order)).toMatchObject({ reply: { status: 200 } });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'accepted', attempts: 2, evidence: 'reply' });
  });

  it('refused: 409 settles an order of which a request was lost', async () => {
    const { journal, service } = bench({ duplicateIds: 'refused' });
    service.next.push('lost', { status: 409 });
    await journal.create(order);
    const created = await journal.create(order);
    expect(created).toEqual({ state: 'accepted', order: created.order });
    expect(created.order).toMatchObject({ evidence: 'duplicate' });
  });

  it.each([
    ['refused', 409, 'accepted'],
    ['refused', 422, 'unknown'],
    [{ refused: [422] }, 422, 'accepted'],
    [{ refused: [422] }, 409, 'unknown'],
  ] as const)(
    'duplicateIds %j of the deployment: %i makes a lost order %s',
    async (duplicateIds, status, state) => {
      const service = fakeService();
      const exchange = exchangeOf(service, { duplicateIds });
      const { journal } = bench({ exchange });
      service.next.push('lost', { status });
      await journal.create(order);
      await journal.create(order);
      expect(await journal.get('A-1001')).toMatchObject({ state });
    },
  );

  it('are what the journal says, whatever the deployment does', async () => {
    const service = fakeService();
    const exchange = exchangeOf(service, { duplicateIds: 'same-order' });
    const { journal } = bench({ exchange, duplicateIds: 'unknown' });
    service.next.push('lost');
    await journal.create(order);
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'outcome_unknown' });
  });

  it('refused: 409 to the first request is a refusal: the id is that of somebody else', async () => {
    const { journal, service } = bench({ duplicateIds: 'refused' });
    service.next.push({ status: 409 });
    const error = await errorOf(journal.create(order));
    expect(error).toMatchObject({ code: 'order_refused', cause: { status: 409 } });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'refused' });
  });

  it('refused: 423 is a duplicate only where it is listed', async () => {
    const { journal, service, another } = bench({ duplicateIds: 'refused' });
    service.next.push('lost', { status: 423 }, { status: 423 });
    await journal.create(order);
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'unknown', status: 423 });
    const knowing = another({ duplicateIds: { refused: [423] } });
    expect(await knowing.create(order)).toMatchObject({ order: { evidence: 'duplicate' } });
  });

  it.each([409, 423])('unknown: after %i the order is unknown, and no second one is made', async (status) => {
    const { journal, service } = bench();
    service.next.push({ status });
    const error = await errorOf(journal.create(order));
    expect(error).toMatchObject({ code: 'http_error', outcome: 'unknown', status });
    expect(await journal.unsettled()).toMatchObject([{ state: 'unknown', status, failure: 'http_error' }]);
    expect(await errorOf(journal.create(order, { again: true }))).toMatchObject({
      code: 'outcome_unknown',
    });
    expect(service.requests).toHaveLength(1);
    expect(await journal.observe(event())).toMatchObject({ result: 'accepted' });
  });

  it('unknown: after 429 the order was not acted on, waits, and may be sent again', async () => {
    const { journal, service, clock } = bench();
    service.next.push({ status: 429, headers: { 'retry-after': '30' } });
    expect(await errorOf(journal.create(order))).toMatchObject({
      ...{ code: 'rate_limited', state: 'waiting', retryAfterMs: 30_000 },
      cause: { outcome: 'refused', status: 429 },
    });
    expect(await journal.unsettled()).toMatchObject([{ state: 'waiting', notBefore: clock.now + 30_000 }]);
    const { order: accepted } = await journal.create(order);
    expect(accepted).toMatchObject({ state: 'accepted', attempts: 2 });
    expect(accepted).not.toHaveProperty('notBefore');
  });

  it('unknown: an event of an order that was answered with 429 settles it', async () => {
    const { journal, service } = bench();
    service.next.push({ status: 429 });
    await journal.create(order);
    expect(await journal.observe(event())).toMatchObject({
      ...{ result: 'contradiction', order: { state: 'accepted', contradiction: 'refused' } },
    });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
  });

  it.each([
    ['a refusal', { status: 401 }],
    ['no connection', 'not-sent'],
  ] as const)('%s of the second request says nothing of the first', async (_, answer) => {
    const { journal, service } = bench({ duplicateIds: 'same-order' });
    service.next.push('lost', answer);
    await journal.create(order);
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'outcome_unknown' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'unknown' });
  });

  it('a late refusal of the first request leaves it to the second, which is in hand', async () => {
    const { journal, service, another, clock } = bench({ duplicateIds: 'same-order', leaseMs: 1000 });
    const first = Promise.withResolvers<Response>();
    const second = Promise.withResolvers<Response>();
    service.next.push(
      () => first.promise,
      () => second.promise,
    );
    const one = errorOf(journal.create(order));
    await expect.poll(() => service.requests.length).toBe(1);
    clock.now += 1000;
    const two = errorOf(another().create(order));
    await expect.poll(() => service.requests.length).toBe(2);
    first.resolve(new Response(null, { status: 400 }));
    expect(await one).toMatchObject({ code: 'outcome_unknown' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'sending' });
    second.resolve(new Response(null, { status: 400 }));
    // Now both were refused, and no other was made.
    expect(await two).toMatchObject({ outcome: 'refused' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'refused' });
  });

  it('another payload is another order all the same', async () => {
    const { journal, service } = bench({ duplicateIds: 'same-order' });
    service.next.push('lost');
    await journal.create(order);
    expect(await rejected(journal.create(changed))).toMatchObject({ code: 'different_order' });
    expect(service.requests).toHaveLength(1);
  });
});

describe('the types', () => {
  it("are those of the deployment's orders", () => {
    const deployment = defineDeployment({
      ...bases,
      orderSchema: z.object({ partner_order_id: z.string() }),
    });
    const exchange = new ExchangeClient({ deployment, credentials });
    const journal = createOrderJournal({ exchange, store: bench().store });
    expectTypeOf(journal.create).parameter(0).toEqualTypeOf<{ partner_order_id: string }>();
    expectTypeOf(journal.prepare).parameter(0).toEqualTypeOf<{ partner_order_id: string }>();
    expectTypeOf(bench().journal).toEqualTypeOf<OrderJournal<BuyOrder>>();
  });
});

describe('the options', () => {
  it.each([
    [{ leaseMs: 0 }, 'leaseMs'],
    [{ duplicateIds: 'ignored' }, 'duplicateIds'],
    [{ rememberMs: 1.5 }, 'rememberMs'],
    [{ firstEventWithinMs: 0 }, 'firstEventWithinMs'],
    [{ firstEventWithinMs: true }, 'firstEventWithinMs'],
    [{ onStoreError: 1 }, 'onStoreError'],
    [{ now: 5 }, 'now'],
    [{ prefix: 'a b' }, 'prefix'],
    [{ prefix: '' }, 'prefix'],
    [{ store: {} }, 'store'],
    [{ exchange: {} }, 'exchange'],
    [{ leasMs: 1 }, 'leaseMs'],
  ])('%o is refused by name', (wrong, name) => {
    const { another } = bench();
    expect(() => another(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(() => another(wrong as never)).toThrow(name);
  });

  it('may be as few as exchange and store', () => {
    const { store, another } = bench();
    expect(() => another({ exchange: exchangeOf(fakeService()), store })).not.toThrow();
  });

  it('are a lease that is longer than any call of the client', () => {
    const { another } = bench();
    const exchange = exchangeOf(fakeService());
    expect(exchange.totalTimeoutMs).toBe(90_000);
    expect(() => another({ exchange, leaseMs: 90_000 })).toThrow('leaseMs (90000) must be longer than');
    expect(() => another({ exchange, leaseMs: 90_001 })).not.toThrow();
  });

  it.each<[string, Partial<DeploymentOptions> | undefined, object, string]>([
    ['no address of the service', { onboardingBaseUrl: undefined }, {}, 'not_configured'],
    ['a timeoutMs that is none', {}, { timeoutMs: -1 }, 'invalid_option'],
    ['a leftMs that is none', {}, { leftMs: 5 }, 'invalid_option'],
    ['a signal that is none', {}, { signal: {} }, 'invalid_option'],
    ['a schema that is none', {}, { schema: {} }, 'invalid_option'],
    ['a merchant that is none', {}, { merchant: 7 }, 'invalid_option'],
    ['a merchant without a key', {}, { merchant: 'none' }, 'invalid_credentials'],
  ])('of a call with %s throw, and nothing is written', async (_, deployment, options, code) => {
    const { store, another } = bench();
    const journal = another({ exchange: exchangeOf(fakeService(), deployment) });
    // Sound: they are refused.
    const given = options as CreateOrderOptions;
    for (const made of [journal.create(order, given), journal.create(order, given)])
      expect(await rejected(made)).toMatchObject({ code });
    expect(await allRecords(store)).toEqual([]);
  });
});

describe('a 2xx reply that says that it failed', () => {
  it('leaves the order unknown: it is unsettled, never sent again, and an event settles it', async () => {
    const { journal, service } = bench();
    service.next.push({ status: 200, body: { success: false, message: 'closed for today' } });
    expect(await errorOf(journal.create(order))).toMatchObject({
      code: 'reply_not_accepted',
      outcome: 'unknown',
      status: 200,
    });
    expect(await journal.unsettled()).toMatchObject([
      { partner_order_id: 'A-1001', state: 'unknown', failure: 'reply_not_accepted', status: 200 },
    ]);
    expect(await errorOf(journal.create(order, { again: true }))).toMatchObject({
      code: 'outcome_unknown',
    });
    expect(service.requests).toHaveLength(1);
    expect(await journal.observe(event())).toMatchObject({ result: 'accepted' });
    expect(await journal.create(order)).toMatchObject({ state: 'accepted' });
  });

  it('is a refusal where the deployment says so, which is sent again only on demand', async () => {
    const service = fakeService();
    const deployment = defineDeployment({
      ...bases,
      readOrderReply: ({ status }) => (status === 202 ? 'refused' : 'accepted'),
    });
    const exchange = new ExchangeClient({ deployment, credentials, fetch: service.fetch });
    const journal = createOrderJournal({ exchange, store: memoryStore() });
    service.next.push({ status: 202 });
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'refused', status: 202 });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_refused' });
    expect(service.requests).toHaveLength(1);
    expect(await journal.create(order, { again: true })).toMatchObject({ order: { state: 'accepted' } });
  });
});

describe('an order whose lease is over before it leaves', () => {
  /** A store whose process is suspended after its first commit, while something else happens. */
  function suspending(store: RecordStore, meanwhile: () => Promise<unknown>): RecordStore {
    let isFirst = true;
    return {
      ...store,
      async transact(keys, change) {
        const result = await store.transact(keys, change);
        if (isFirst) {
          isFirst = false;
          await meanwhile();
        }
        return result;
      },
    };
  }

  it('is not sent, and stays given up', async () => {
    const { service, store, another, clock } = bench();
    const giveUp = async () => {
      clock.now += 120_000;
      await another().settle('A-1001', 'abandoned', 'The service has none.');
    };
    const journal = another({ store: suspending(store, giveUp) });
    const error = await errorOf(journal.create(order));
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not-sent', attempts: 0 });
    expect(String(error)).toContain('the time in which it may leave was over');
    expect(service.requests).toEqual([]);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned', note: 'The service has none.' });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'order_abandoned' });
  });

  it('is known not to be sent if nobody has given it up, and is sent by the next create', async () => {
    const { service, store, another, clock } = bench();
    const journal = another({
      store: suspending(store, async () => {
        clock.now += 120_000;
      }),
    });
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'not-sent' });
    expect(await journal.get('A-1001')).toMatchObject({ state: 'not-sent' });
    expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
    expect(service.requests).toHaveLength(1);
  });

  it('is not sent either when the clock was set back so far that others take its lease for over', async () => {
    const { service, store, another, clock } = bench();
    const journal = another({
      store: suspending(store, async () => {
        clock.now -= 3_600_000;
      }),
    });
    expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'not-sent' });
    expect(service.requests).toEqual([]);
  });

  it('is not sent when its process was suspended while the connection was made', async () => {
    const { store, another, clock } = bench();
    const { url, connected } = await slowServer();
    const exchange = new ExchangeClient({
      deployment: defineDeployment({ onboardingBaseUrl: url }),
      credentials,
      fetch: async (request) => {
        // As if the connection had taken as long as the lease.
        clock.now += 120_000;
        await another().settle('A-1001', 'abandoned', 'The service has none.');
        return await fetch(request);
      },
    });
    const journal = another({ exchange, store });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'timeout', outcome: 'not-sent' });
    expect(connected.bytes).toBe(0);
    expect(await journal.get('A-1001')).toMatchObject({ state: 'abandoned' });
  });

  it('is not waited for any longer than its lease', async () => {
    const { another, clock } = bench();
    const exchange = new ExchangeClient({
      deployment: defineDeployment(bases),
      credentials,
      fetch: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    // Without its lease it would take as long as this test may. Long enough for the request to leave on a busy machine: before that, the outcome is not-sent.
    const journal = another({ exchange: senderOf(exchange), leaseMs: 1_000, now: () => clock.now });
    expect(await errorOf(journal.create(order))).toMatchObject({ code: 'timeout', outcome: 'unknown' });
  });
});

/** Counts what arrives. */
async function slowServer() {
  const connected = { bytes: 0 };
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      connected.bytes += data.length;
    });
    socket.on('error', () => {});
  });
  onTestFinished(() => void server.close());
  return { url: await listening(server), connected };
}
