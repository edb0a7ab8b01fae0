import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../src/devtools/sandbox/settings/sandbox-options.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderFinding } from '../../src/orders/order-findings.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import type { OrderStore } from '../../src/orders/order-store.ts';
import { type ReconcileOptions, reconcileOrders, type StatementRow } from '../../src/orders/reconcile.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { rejected } from '../support/refusal.ts';
import { allOf } from './records-bench.ts';
import { allRecords, bench, named, order } from './service.ts';

const now = 1_700_000_000_000;
const hour = 3_600_000;

const kindsOf = (found: readonly OrderFinding[]) =>
  found.map(({ kind, partner_order_id: id }) => `${kind} ${id}`).sort();

function record(id: string, more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{ version: 1, partner_order_id: id, digest: id, state: 'accepted', attempts: 1, unresolved: [] },
    ...{
      createdAt: 1_000,
      changedAt: 2_000,
      openedAt: 1_000,
      askedAt: 1_000,
      revision: 1,
      evidence: 'event',
    },
    ordered: { fiat_amount: '15000.50' },
    ...more,
  };
}

/** An order with these hashes of payments. */
const paid = (id: string, hashes: readonly string[], more: Partial<OrderRecord> = {}) =>
  record(id, {
    timeline: {
      seen: ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto'],
      facts: { crypto_txn_hash: hashes },
    },
    ...more,
  });

interface Books {
  readonly records?: readonly OrderRecord[];
  readonly strays?: readonly { partner_order_id: string; name: string; digest: string; at: number }[];
  readonly statement?: readonly StatementRow[];
  readonly since?: number;
  readonly until?: number;
}

async function findings({ records = [], strays = [], since = 0, ...options }: Books) {
  const reads: number[] = [];
  const found: OrderFinding[] = [];
  // Sound: the functions that it calls.
  const journal = {
    async *readAll() {
      for (const record of records) yield { record, stray: undefined };
      for (const stray of strays) yield { record: undefined, stray };
    },
    async readEach(ids: readonly string[]) {
      reads.push(ids.length);
      return ids.map((id) => records.find(({ partner_order_id: each }) => each === id));
    },
  } as unknown as OrderStore;
  for await (const each of reconcileOrders({ since, ...options }, { records: journal, now }))
    found.push(each);
  return { found, reads };
}

/** Without what to do next. */
const factsOf = ({ found }: { found: readonly OrderFinding[] }) => found.map(({ next, ...facts }) => facts);

describe('reconcile with a statement', () => {
  it.each<[string, string | undefined, boolean]>([
    ['15000.50', '15000.50', false],
    ['15000.50', '15,000.5', false],
    ['15000.50', 'NGN 15,000.50', false],
    ['15000.50', '15,000.50  ngn', false],
    ['15000.50', '15 NGN000.50', true],
    ['15000.50', '15001', true],
    ['15000.50', '15,00.50', true],
    ['15000.50', '15000,50', true],
    ['15000.50', 'about NGN 15000.50', true],
    ['1500000', '1,500,000', false],
    ['1500000', '1500,000', true],
  ])('compares the ordered amount %s with %j', async (fiat_amount, amount, differs) => {
    const result = await findings({
      records: [record('A', { ordered: { fiat_amount } })],
      statement: [{ id: 'A', amount }],
    });
    const evidence = { ordered: fiat_amount, statement: amount };
    expect(factsOf(result)).toEqual(
      differs ? [{ kind: 'amount_differs', partner_order_id: 'A', since: 2_000, evidence }] : [],
    );
  });

  it.each<[string, readonly string[], string | undefined, boolean]>([
    ['the same', ['0xother', '0xhash'], '0xhash', false],
    ['digits in another case', [`0x${'AB'.repeat(32)}`], `0x${'ab'.repeat(32)}`, false],
    ['digits with 0x and without', [`0x${'ab'.repeat(32)}`], 'AB'.repeat(32), false],
    ['one in no known form in another case', ['Hash'], 'hash', true],
    ['a longer one in another case', ['AB'.repeat(33)], 'ab'.repeat(33), true],
    ['none', ['0xhash'], undefined, false],
    ['one of an order that has none', [], '0xhash', false],
    ['another', ['0xhash'], '0xother', true],
  ])('compares the hash of the payment: %s', async (_, hashes, hash, differs) => {
    const result = await findings({ records: [paid('A', hashes)], statement: [{ id: 'A', hash }] });
    const evidence = { crypto_txn_hash: hashes, statement: hash };
    expect(factsOf(result)).toEqual(
      differs ? [{ kind: 'mismatch', partner_order_id: 'A', since: 2_000, evidence }] : [],
    );
  });

  it('finds nothing to compare in an order without an amount and without events', async () => {
    const statement = [{ id: 'A', amount: '7', hash: '0xhash' }];
    expect((await findings({ records: [record('A', { ordered: {} })], statement })).found).toEqual([]);
  });

  it('names each order that one side alone has', async () => {
    const statement = [{ id: 'ghost', amount: '7' }, { id: 'bare' }, { id: 'both' }];
    const result = await findings({ records: [record('both'), record('missing')], statement });
    expect(factsOf(result)).toStrictEqual([
      { kind: 'only_in_statement', partner_order_id: 'ghost', since: null, evidence: { amount: '7' } },
      { kind: 'only_in_statement', partner_order_id: 'bare', since: null, evidence: {} },
      { kind: 'only_in_journal', partner_order_id: 'missing', since: 2_000, evidence: { evidence: 'event' } },
    ]);
  });

  it('misses no order that the service cannot have listed yet, or does not have', async () => {
    const records = [
      record('new', { changedAt: now - hour + 1 }),
      record('old', { changedAt: now - hour }),
      record('refused', { state: 'refused' }),
    ];
    const { found } = await findings({ records, statement: [] });
    expect(found.map(({ partner_order_id: id }) => id)).toEqual(['old']);
  });

  it('leaves out the orders of another time', async () => {
    const statement = ['before', 'first', 'last', 'after'].map((id) => ({ id, amount: '7' }));
    const records = [999, 1_000, 1_999, 2_000].map((createdAt, index) =>
      record(statement[index]?.id ?? '', { createdAt }),
    );
    const { found } = await findings({ records, statement, since: 1_000, until: 2_000 });
    expect(found.map(({ partner_order_id: id }) => id)).toEqual(['first', 'last']);
  });

  it('reads the orders of 100 rows at once', async () => {
    const statement = Array.from({ length: 250 }, (_, index) => ({ id: `A-${index}` }));
    const { found, reads } = await findings({ statement });
    expect([found.length, reads]).toEqual([250, [100, 100, 50]]);
  });

  it.each([undefined, null, {}, { id: 7 }])('refuses the row %j', async (row) => {
    // Sound: it is wrong on purpose.
    expect(await rejected(findings({ statement: [row as never] }))).toMatchObject({
      ...{ code: 'invalid_option', message: expect.stringContaining('needs an id') },
    });
  });
});

describe('reconcile', () => {
  it('finds a payment that several orders name, whatever the case of its digits, with 0x and without', async () => {
    const hash = 'ab'.repeat(32);
    const records = [
      paid('A', [hash, 'only A']),
      paid('B', [hash.toUpperCase()]),
      paid('old', [`0x${hash}`], { createdAt: 1 }),
      // Its own events spell it in two ways.
      paid('C', ['cd'.repeat(32), 'CD'.repeat(32)]),
    ];
    const twice = (partner_order_id: string) => ({
      ...{ kind: 'hash_used_twice', partner_order_id, since: 2_000 },
      evidence: { crypto_txn_hash: hash, other: 'A' },
    });
    expect(factsOf(await findings({ records, since: 1_000 }))).toEqual([twice('B'), twice('old')]);
  });

  it('finds a payment that an order of the period shares with one before it, whichever is read first', async () => {
    const [before, within] = [paid('before', ['hash'], { createdAt: 1 }), paid('within', ['hash'])];
    for (const records of [
      [before, within],
      [within, before],
    ])
      expect((await findings({ records, since: 1_000 })).found).toMatchObject([{ kind: 'hash_used_twice' }]);
    expect((await findings({ records: [before, within], since: 1_001 })).found).toEqual([]);
  });

  it('finds an event whose order the journal lacks', async () => {
    const stray = (partner_order_id: string, at: number) => ({
      partner_order_id,
      at,
      name: 'n',
      digest: 'd',
    });
    const strays = [stray('none', 1_000), stray('early', 999)];
    expect(factsOf(await findings({ records: [record('known')], strays, since: 1_000 }))).toEqual([
      {
        ...{ kind: 'event_without_order', partner_order_id: 'none', since: 1_000 },
        evidence: { name: 'n', digest: 'd' },
      },
    ]);
  });

  it('reads page by page, once, and yields what it found before it reads on', async () => {
    const [page, orders] = [1_000, 5_000];
    let listed = 0;
    /** A journal that is never in memory. */
    const store = {
      ...memoryStore(),
      async list({ prefix, after = '' }: { prefix: string; after?: string | undefined }) {
        if (!prefix.endsWith('order:')) return [];
        const start = after === '' ? 0 : Number(after.slice(prefix.length)) + 1;
        const count = Math.max(0, Math.min(page, orders - start));
        listed += count;
        return Array.from({ length: count }, (_, index) => {
          const key = String(start + index).padStart(9, '0');
          return { key: prefix + key, value: heldRecord(key) };
        });
      },
    };
    const { journal } = bench({ store });
    const seen: number[] = [];
    for await (const { kind } of journal.reconcile({ since: 0 })) if (kind === 'held') seen.push(listed);
    expect([seen.length, listed]).toEqual([orders, orders]);
    expect(seen[0]).toBe(page);
  });

  it('refuses options that it cannot use, at once', async () => {
    const { journal } = bench();
    // Sound: they are wrong on purpose.
    for (const wrong of [{}, { since: -1 }, { since: 0, statement: 'Order\n1' }, { since: 0, untill: 1 }])
      expect(() => journal.reconcile(wrong as never)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    expect(await rejected(allOf(journal.reconcile({ since: 0, statement: [{}] as never })))).toMatchObject({
      code: 'invalid_option',
    });
  });
});

describe('reconcile of the orders of a sandbox', () => {
  it('finds every fault that the sandbox plants, in its order, and no other', async () => {
    const { sandbox, clock, exchange, store, create, reconcile } = await partner({ event: planted });
    const { faults } = sandbox;
    faults.plan('event.buy.init', 'drop');
    await create('silent');
    for (const id of ['stuck', 'held', 'first', 'second', 'both']) await create(id);
    faults.plan('event.buy.init', 'other_chain');
    await create('chain');
    faults.plan('event.buy.init', 'amount_differs');
    await create('amount');
    await exchange.createOrder(named('stray'));
    await sandbox.idle();
    await sandbox.advance('held', 'no_kyc');
    for (const id of ['first', 'second', 'chain', 'amount']) await sandbox.play(id, 'happy');
    await sandbox.play('both', 'credited_then_closed');
    await create('elsewhere');
    await sandbox.advance('elsewhere', 'fiat_received');
    faults.plan('event.buy.credited.crypto', 'credits_elsewhere');
    await sandbox.advance('elsewhere', 'credited');
    await sandbox.idle();
    clock.now += 2 * hour;
    const before = await allRecords(store);
    const found = await reconcile();
    expect(kindsOf(found)).toEqual(
      [
        'never_reported silent',
        'stuck stuck',
        'held held',
        'hash_used_twice first',
        'credited_and_closed both',
        'mismatch chain',
        'amount_differs amount',
        'event_without_order stray',
        'mismatch elsewhere',
        // Nobody has acted on the credit.
        'stuck elsewhere',
      ].sort(),
    );
    for (const { next, since } of found)
      expect([next, since]).toEqual([expect.stringMatching(/./), expect.any(Number)]);
    expect(found).toEqual(JSON.parse(JSON.stringify(found)));
    expect(JSON.stringify(found)).not.toContain(order.buyer_crypto_address);
    expect(await reconcile()).toEqual(found);
    expect(await allRecords(store)).toEqual(before);
    expect(await reconcile({ since: clock.now })).toEqual([]);
    expect(await reconcile({ until: 1_700_000_000_000 })).toEqual([]);
  });
});

/** A sandbox, a journal that observes its events, and a clock of the journal. */
async function partner(options: Pick<SandboxOptions, 'event'> = {}) {
  const clock = { now: 1_700_000_000_000 };
  let webhooks: Webhooks | undefined;
  const sandbox = createSandbox({
    ...options,
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
  const store = memoryStore({ now: () => clock.now });
  const journal = createOrderJournal({ exchange, store, now: () => clock.now, onMismatch: () => {} });
  webhooks = createWebhooks({ credentials: issued, deployment, onError: () => {} })
    .onAny(journal.observe)
    .onUnrecognized(journal.observe);
  const create = async (id: string) => {
    await journal.create(named(id));
    await sandbox.idle();
  };
  const reconcile = (given: Partial<ReconcileOptions> = {}) =>
    allOf(journal.reconcile({ since: 0, ...given }));
  return { sandbox, clock, exchange, store, create, reconcile };
}

/** What the service says of single orders, in place of the truth. */
function planted(body: JsonObject, name: string): JsonObject {
  const { partner_order_id: id } = body;
  const isCredited = name === 'event.buy.credited.crypto';
  if (isCredited && (id === 'first' || id === 'second')) return { ...body, crypto_txn_hash: 'ab'.repeat(32) };
  return body;
}

function heldRecord(id: string): JsonObject {
  return {
    ...{ version: 1, partner_order_id: id, digest: id, state: 'accepted', evidence: 'reply' },
    ...{ createdAt: 1, changedAt: 1, openedAt: 1, askedAt: 1, revision: 1, attempts: 1, unresolved: [] },
    ordered: {},
    timeline: {
      seen: ['event.buy.init', 'event.buy.received.fiat', 'event.buy.received.fiat_kyc_error'],
      facts: { crypto_txn_hash: [`hash-${id}`] },
    },
  };
}
