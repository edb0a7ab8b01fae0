import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { checkAddress } from '../../src/deployment/addresses/check-address.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { SameOrder } from '../../src/deployment/same-order.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderJournalOptions } from '../../src/orders/journal-options.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { bases } from '../deployment/bases.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { buyCloseBody, buyCreditedBody, buyFiatReceivedBody, buyInitBody } from '../support/bodies.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected } from '../support/refusal.ts';
import { allRecords, bench, credentials, fakeService, order } from './service.ts';

const elsewhere = 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2';
const evm = '0xb7c978b070509bfeefa71fc3c984775072f837df';

/** An accepted order, and what `onMismatch` was told of. */
async function ordered(options: Partial<OrderJournalOptions> = {}, members: object = {}) {
  const told: string[][] = [];
  const made = bench({
    onMismatch: (_, { differences = [] }) => told.push(differences.map(({ member }) => member)),
    ...options,
  });
  await made.journal.create({ ...order, ...members });
  return { ...made, told };
}

describe.each(storeKinds())('an event with another address, over $name', ({ open }) => {
  it('is evidence, is rejected, and stays in sight until a person decides about it', async () => {
    const { journal, another, service } = bench({ onMismatch: () => {} }, open);
    service.next.push('lost');
    await journal.create(order);
    const context = { digest: 'a'.repeat(64) };
    const credited = buyCreditedBody({ buyer_crypto_address: elsewhere });
    const error = await rejected(journal.observe(credited, context));
    expect(error).toMatchObject({
      code: 'order_mismatch',
      partner_order_id: 'A-1001',
      assumptions: ['event-matches-order'],
    });
    expect(String(error)).not.toContain(elsewhere);
    const known = await another().get('A-1001');
    expect(known).toMatchObject({
      ...{ state: 'accepted', evidence: 'event', attention: 'mismatch' },
      ordered: { chain: 'usdt-trc20', fiat_currency: 'NGN', fiat_amount: '15000.50' },
      events: [{ name: 'event.buy.credited.crypto', digest: context.digest }],
    });
    expect(known?.events?.[0]?.differences).toEqual([{ member: 'buyer_crypto_address' }]);
    // No handler acted on it.
    expect(known?.timeline).toBeUndefined();
    expect(await journal.health()).toMatchObject({ mismatches: 1, unsettled: 0 });
    expect(await idsOf(journal.list({ attention: true }))).toEqual(['A-1001']);

    const note = 'The buyer has moved, ticket 7.';
    expect(await rejected(journal.settle('A-1001', 'accepted', note))).toMatchObject({
      code: 'undecided_events',
    });
    // It came after the person had looked.
    const later = { digest: 'b'.repeat(64) };
    expect(await rejected(another().observe(credited, later))).toMatchObject({ code: 'order_mismatch' });
    expect(await journal.settle('A-1001', 'accepted', note, { events: [context.digest] })).toMatchObject({
      attention: 'mismatch',
      events: [{ decision: { note, verdict: 'accepted' } }, {}],
    });
    expect(await rejected(another().observe(credited, later))).toMatchObject({ code: 'order_mismatch' });
    const settled = await journal.settle('A-1001', 'rejected', 'Not ours.', { events: [later.digest] });
    expect(settled).not.toHaveProperty('attention');
    expect(settled).toMatchObject({ state: 'accepted', evidence: 'event' });
    expect(await rejected(another().observe(credited, later))).toMatchObject({ code: 'order_mismatch' });
    expect(await journal.health()).toMatchObject({ mismatches: 0 });
    expect(await another().observe(credited, context)).toMatchObject({
      result: 'known',
      order: { timeline: { stage: 'credited' } },
    });
    expect(await idsOf(journal.list({ attention: true }))).toEqual([]);
    // Another one is a new one.
    const other = { digest: 'c'.repeat(64) };
    expect(await rejected(another().observe(credited, other))).toMatchObject({ code: 'order_mismatch' });
    expect(await journal.get('A-1001')).toMatchObject({ attention: 'mismatch' });
  });
});

describe('observe', () => {
  it.each<[string, JsonObject, object?]>([
    ['as it was ordered', {}],
    ['without an address', { buyer_crypto_address: null }],
    [
      'with an EVM address in another case',
      { buyer_crypto_address: evm.toUpperCase().replace('X', 'x') },
      { chain: 'usdc-matic', buyer_crypto_address: evm },
    ],
    ['with chain and currency in another spelling', { chain: 'USDT_TRC20', fiat_currency: 'ngn' }],
    ['with the amount in other digits', { fiat_amount_to_pay: '15000.500' }],
  ])('finds no difference in an event %s', async (_, members, ordering = {}) => {
    const { journal, told } = await ordered({ rejectMismatch: 'any' }, ordering);
    const { chain = 'usdt-trc20' } = { ...order, ...ordering };
    await journal.observe(
      buyInitBody({ chain, buyer_crypto_address: order.buyer_crypto_address, ...members }),
    );
    expect(await journal.get('A-1001')).not.toHaveProperty('attention');
    expect(told).toEqual([]);
  });

  it.each<[string, JsonObject, object]>([
    ['chain', { chain: 'usdc-matic' }, { ordered: 'usdt-trc20', reported: 'usdc-matic' }],
    ['fiat_currency', { fiat_currency: 'GHS' }, { ordered: 'NGN', reported: 'GHS' }],
    ['fiat_amount', { fiat_amount_to_pay: 15100.5 }, { ordered: '15000.50', reported: '15100.5' }],
  ])('records another %s, and lets the event pass', async (member, members, difference) => {
    const { journal, told, another } = await ordered();
    const event = buyInitBody(members);
    expect(await journal.observe(event)).toMatchObject({
      result: 'known',
      differences: [{ member, ...difference }],
      order: { attention: 'mismatch', timeline: { stage: 'initialised' } },
    });
    expect(told).toEqual([[member]]);
    expect(await rejected(another({ rejectMismatch: 'any' }).observe(event))).toMatchObject({
      code: 'order_mismatch',
    });
    expect(await another({ rejectMismatch: 'never' }).observe(event)).toMatchObject({ result: 'known' });
  });

  it('with rejectMismatch never, passes another address too', async () => {
    const { journal } = await ordered({ rejectMismatch: 'never' });
    const event = buyCreditedBody({ buyer_crypto_address: elsewhere });
    expect(await journal.observe(event)).toMatchObject({
      order: { attention: 'mismatch', timeline: { stage: 'credited' } },
    });
  });

  it('does not compare the chain and the pair of the close event', async () => {
    const { journal } = await ordered({ rejectMismatch: 'any' });
    const event = buyCloseBody({ chain: 'eusd-mob', pair: 'NGN/EUSD' });
    expect(await journal.observe(event)).toMatchObject({ order: { timeline: { stage: 'closed' } } });
  });

  it.each<[string, SameOrder, string]>([
    ['true: nothing differs', () => true, 'known'],
    ['undefined: the usual comparison', () => undefined, 'order_mismatch'],
    [
      'it throws: the usual comparison',
      () => {
        throw new Error('no');
      },
      'order_mismatch',
    ],
    [
      'a form of its own',
      ({ isAddress }, { buyer_crypto_address: address }) => isAddress(String(address).slice(1)),
      'known',
    ],
  ])('asks sameOrder of the deployment: %s', async (_, sameOrder, expected) => {
    const service = fakeService();
    const exchange = new ExchangeClient({
      deployment: defineDeployment({ ...bases, sameOrder }),
      ...{ credentials, fetch: service.fetch, maxAttempts: 1 },
    });
    const { journal } = await ordered({ exchange });
    const event = buyInitBody({ buyer_crypto_address: `x${order.buyer_crypto_address}` });
    const observed = await journal.observe(event).catch((error: unknown) => error);
    expect(observed).toMatchObject(expected === 'known' ? { result: 'known' } : { code: expected });
  });

  it('rejects what sameOrder says is of another order, although nothing else differs', async () => {
    const exchange = new ExchangeClient({
      deployment: defineDeployment({
        ...bases,
        sameOrder: (_, { pair }) => pair !== 'NGN/EUSD' && undefined,
      }),
      ...{ credentials, fetch: fakeService().fetch },
    });
    const { journal } = await ordered({ exchange });
    await journal.observe(buyInitBody());
    expect(await rejected(journal.observe(buyFiatReceivedBody({ pair: 'NGN/EUSD' })))).toMatchObject({
      code: 'order_mismatch',
    });
    expect((await journal.get('A-1001'))?.events?.at(-1)?.differences).toEqual([{ member: 'order' }]);
  });

  it('keeps the timeline, the first event of each name, and neither an address nor a buyer', async () => {
    const { journal, store, clock } = await ordered();
    await journal.create({ ...order, partner_order_id: 'A-2' });
    for (const body of [buyInitBody(), buyInitBody(), buyFiatReceivedBody(), buyCreditedBody()]) {
      clock.now += 1000;
      await journal.observe(body);
    }
    const before = await allRecords(store);
    // The same event in another spelling adds nothing.
    const respelled: JsonObject = { ...buyInitBody(), more: 1 };
    await journal.observe(respelled, { digest: 'c'.repeat(64) });
    expect(await allRecords(store)).toEqual(before);
    const known = await journal.get('A-1001');
    expect(known?.timeline).toMatchObject({ stage: 'credited', flags: [] });
    expect(known?.events?.map(({ name, at }) => [name, at - clock.now])).toEqual([
      ['event.buy.init', -3000],
      ['event.buy.received.fiat', -1000],
      ['event.buy.credited.crypto', 0],
    ]);
    const text = JSON.stringify(before) + JSON.stringify(known);
    for (const personal of [order.buyer_crypto_address, order.buyer_phone, order.first_name, 'Ada'])
      expect(text).not.toContain(personal);
    // Two orders for one address cannot be told by it.
    const hashes = before.map(({ value }) => Object(Object(value).ordered).address).filter(Boolean);
    expect([hashes.length, new Set(hashes).size]).toEqual([2, 2]);
  });

  it('keeps of an event that cannot be read its name', async () => {
    const { journal } = await ordered();
    const { crypto_txn_hash, ...body } = buyCreditedBody();
    await journal.observe(body);
    expect((await journal.get('A-1001'))?.events).toMatchObject([{ name: 'event.buy.credited.crypto' }]);
  });

  it('keeps at most 32 events, and rejects those beyond', async () => {
    const { journal } = await ordered();
    await journal.observe(buyInitBody());
    for (let count = 0; count < 40; count++) {
      const event = buyCreditedBody({ buyer_crypto_address: elsewhere, crypto_amount_to_receive: count });
      expect(await rejected(journal.observe(event))).toMatchObject({ code: 'order_mismatch' });
    }
    expect((await journal.get('A-1001'))?.events).toHaveLength(32);
  });

  it('compares an event that comes before the reply', async () => {
    const { journal, service, another } = bench({ onMismatch: () => {} });
    service.next.push(async () => {
      const event = buyInitBody({ buyer_crypto_address: elsewhere });
      expect(await rejected(another().observe(event))).toMatchObject({ code: 'order_mismatch' });
      return Response.json({ ok: true });
    });
    expect(await journal.create(order)).toMatchObject({ order: { attention: 'mismatch' } });
  });

  it('of two partners with one address compares each event with the order of its own partner', async () => {
    const { journal, another, store, service } = bench({ onMismatch: () => {} });
    const exchange = new ExchangeClient({
      deployment: defineDeployment(bases),
      credentials: { ...credentials, partnerId: 'P-2' },
      fetch: service.fetch,
    });
    const other = another({ exchange, prefix: 'other:' });
    await journal.create(order, { merchant: 'ngn' });
    await other.create(order, { merchant: 'ngn' });
    const hashes = (await allRecords(store)).map(({ value }) => Object(Object(value).ordered).address);
    expect(new Set(hashes.filter(Boolean)).size).toBe(2);
    const [one, two] = [{ key: { partnerId: 'P-1' } }, { key: { partnerId: 'P-2' } }];
    const credited = buyCreditedBody();
    expect(await journal.observe(credited, two)).toEqual({ result: 'other_partner' });
    for (const result of [await journal.observe(credited, one), await other.observe(credited, two)]) {
      expect(result).toMatchObject({ result: 'known', order: { timeline: { stage: 'credited' } } });
      expect(result).not.toHaveProperty('differences');
    }
    const moved = buyCreditedBody({ buyer_crypto_address: elsewhere });
    expect(await rejected(other.observe(moved, two))).toMatchObject({ code: 'order_mismatch' });
    expect(await journal.get('A-1001')).not.toHaveProperty('attention');
  });

  it('takes an event with another address that is sent again in another spelling for a new one, by its digest', async () => {
    const { journal } = await ordered();
    const moved: JsonObject = { ...buyCreditedBody({ buyer_crypto_address: elsewhere }) };
    expect(await rejected(journal.observe(moved, { digest: 'a'.repeat(64) }))).toMatchObject({
      code: 'order_mismatch',
    });
    await journal.settle('A-1001', 'accepted', 'seen at the service', { events: ['a'.repeat(64)] });
    const respelled = Object.fromEntries(Object.entries(moved).reverse());
    expect(await journal.observe(respelled, { digest: 'a'.repeat(64) })).toMatchObject({ result: 'known' });
    // A delivery of its own, with another digest, is a new one for the person.
    expect(await rejected(journal.observe(respelled, { digest: 'b'.repeat(64) }))).toMatchObject({
      code: 'order_mismatch',
    });
  });

  it('compares with the order that replaced a refused one', async () => {
    const { journal, service } = bench({ onMismatch: () => {} });
    service.next.push({ status: 422 });
    await journal.create(order);
    await journal.create({ ...order, buyer_crypto_address: elsewhere }, { replace: true });
    expect(await rejected(journal.observe(buyInitBody()))).toMatchObject({ code: 'order_mismatch' });
  });

  it('registered with onAny runs before the handlers of names, which do not act on a rejected event', async () => {
    const { journal } = await ordered();
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const paid: string[] = [];
    const webhooks = createWebhooks({ credentials, inbox, onError: () => {} })
      .on('event.buy.credited.crypto', ({ partner_order_id: id }) => paid.push(id))
      .onAny(journal.observe);
    const { signature, ...unsigned } = buyCreditedBody({ buyer_crypto_address: elsewhere });
    const { text } = signBody(unsigned, { key: signingKey(credentials, 'order') });
    expect(await webhooks.receive(text)).toMatchObject({ status: 200 });
    expect(await inbox.drain()).toMatchObject({ dead: 1 });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ attempts: 1, reason: expect.stringContaining('buyer_crypto_address') });
    expect(letter?.digest).toBe((await journal.get('A-1001'))?.events?.[0]?.digest);
    expect(paid).toEqual([]);

    await journal.settle('A-1001', 'accepted', 'It is right.', { events: [letter?.digest ?? ''] });
    await inbox.replay(letter?.digest ?? '');
    expect(await inbox.drain()).toMatchObject({ handled: 1 });
    expect(paid).toEqual(['A-1001']);
  });

  it('warns once, without a hook', async () => {
    const warnings: string[] = [];
    const keep = ({ message }: Error) => warnings.push(message);
    process.on('warning', keep);
    onTestFinished(() => void process.off('warning', keep));
    const { journal } = bench();
    await journal.create(order);
    await journal.observe(buyInitBody({ chain: 'usdc-matic' }));
    await journal.observe(buyInitBody({ chain: 'usdc-matic' }));
    await nextTurn();
    expect(warnings.filter((each) => each.includes('differs from its order'))).toHaveLength(1);
  });
});

describe('a service that contradicts an order', () => {
  async function partner() {
    let webhooks: Webhooks | undefined;
    const sandbox = createSandbox({
      whitelist: 'off',
      fetch: async (input, init) =>
        (await webhooks?.fetch(new Request(input, init))) ?? new Response(null, { status: 404 }),
    });
    const { deployment, fetch } = sandbox;
    await new ExchangeClient({ deployment, fetch }).onboard({
      partner_code: 'acme',
      email: 'dev@acme.example',
    });
    const issued = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
    const exchange = new ExchangeClient({ deployment, fetch, credentials: issued });
    const journal = createOrderJournal({ exchange, store: memoryStore(), onMismatch: () => {} });
    webhooks = createWebhooks({ credentials: issued, deployment, onError: () => {} })
      .onAny(journal.observe)
      .onUnrecognized(journal.observe);
    return { sandbox, journal };
  }

  it.each([
    ['credits_elsewhere', 'buyer_crypto_address', 500],
    ['other_chain', 'chain', 200],
    ['other_currency', 'fiat_currency', 200],
    ['amount_differs', 'fiat_amount', 200],
  ] as const)('is found out under %s', async (fault, member, status) => {
    const { sandbox, journal } = await partner();
    sandbox.faults.plan('event.buy.init', fault);
    await journal.create(order);
    await sandbox.idle();
    const known = await journal.get('A-1001');
    expect(known).toMatchObject({
      state: 'accepted',
      attention: 'mismatch',
      events: [{ differences: [{ member }] }],
    });
    expect(sandbox.deliveries).toMatchObject([{ status, faults: [fault] }]);
  });

  it.each([order.buyer_crypto_address, evm, 'buyer'])(
    'credits another address of the form of %s',
    async (address) => {
      const { sandbox, journal } = await partner();
      sandbox.faults.plan('event.buy.init', 'credits_elsewhere');
      const chain = address === evm ? 'usdc-matic' : address === 'buyer' ? 'usdt-pol' : 'usdt-trc20';
      await journal.create({ ...order, chain, buyer_crypto_address: address });
      await sandbox.idle();
      const other = JSON.parse(sandbox.deliveries[0]?.body ?? '').buyer_crypto_address;
      expect(other).not.toBe(address);
      expect(checkAddress(other, { chain }).verdict).not.toBe('refused');
    },
  );

  it('is not suspected while it is honest', async () => {
    const { sandbox, journal } = await partner();
    for (const [index, scenario] of (
      ['happy', 'kyc_then_refund', 'third_party_then_credited', 'refund'] as const
    ).entries()) {
      await journal.create({ ...order, partner_order_id: `A-${index}` });
      await sandbox.play(`A-${index}`, scenario);
    }
    expect(await idsOf(journal.list({ attention: true }))).toEqual([]);
    expect(await idsOf(journal.list())).toHaveLength(4);
    expect(await journal.unsettled()).toEqual([]);
  });
});

async function idsOf(orders: AsyncIterable<{ readonly partner_order_id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { partner_order_id: id } of orders) ids.push(id);
  return ids;
}
