import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../src/devtools/sandbox/settings/sandbox-options.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderFinding } from '../../src/orders/order-findings.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import type { ReconcileOptions } from '../../src/orders/reconcile.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/create-webhooks.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { buyCreditedBody, buyFiatReceivedBody, buyInitBody } from '../support/bodies.ts';
import { rejected } from '../support/refusal.ts';
import { bench, order } from './service.ts';

const hour = 3_600_000;
const named = (partner_order_id: string) => ({ ...order, partner_order_id });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const kindsOf = (findings: readonly OrderFinding[]) =>
  findings.map(({ kind, partner_order_id: id }) => `${kind} ${id}`).sort();

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
  const reconcile = (given: Partial<ReconcileOptions> = {}) => all(journal.reconcile({ since: 0, ...given }));
  return { sandbox, journal, clock, exchange, create, reconcile };
}

/** What the service says of single orders, in place of the truth. */
function planted(body: JsonObject, name: string): JsonObject {
  const { partner_order_id: id } = body;
  const isCredited = name === 'event.buy.credited.crypto';
  if (isCredited && (id === 'first' || id === 'second')) return { ...body, crypto_txn_hash: 'ab'.repeat(32) };
  return body;
}

describe('reconcile', () => {
  it('finds every fault that the sandbox plants, in its order, and no other', async () => {
    const { sandbox, clock, exchange, create, reconcile } = await partner({ event: planted });
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
    for (const each of found) {
      expect(each).toEqual(JSON.parse(JSON.stringify(each)));
      expect([each.kind, each.next !== '', each.since]).toEqual([each.kind, true, expect.any(Number)]);
      expect(JSON.stringify(each)).not.toContain(order.buyer_crypto_address);
    }
    expect(await reconcile()).toEqual(found);
    expect(await reconcile({ since: clock.now })).toEqual([]);
    expect(await reconcile({ until: 1_700_000_000_000 })).toEqual([]);
  });

  it('finds nothing in honest books, also beside an honest statement', async () => {
    const { sandbox, clock, create, reconcile } = await partner();
    const scenarios = [
      'happy',
      'kyc_then_credited',
      'third_party_then_refund',
      'refund',
      'events_repeated',
    ] as const;
    for (const scenario of scenarios) {
      await create(scenario);
      await sandbox.play(scenario, scenario);
    }
    await sandbox.idle();
    clock.now += 2 * hour;
    expect(await reconcile()).toEqual([]);
    const rows = scenarios.map((id) => ({ id, amount: 'NGN 15,000.50' }));
    expect(await reconcile({ statement: rows })).toEqual([]);
    await create('new');
    expect(await reconcile()).toEqual([]);
  });

  it('compares with a statement of the service', async () => {
    const { sandbox, clock, create, reconcile } = await partner();
    for (const id of ['same', 'amount', 'hash', 'missing']) {
      await create(id);
      await sandbox.play(id, 'happy');
    }
    await sandbox.idle();
    clock.now += 2 * hour;
    const statement = [
      { id: 'same', amount: '15,000.50' },
      { id: 'amount', amount: '15001' },
      { id: 'hash', amount: '15000.5', hash: '0xother' },
      { id: 'ghost', amount: '7' },
    ];
    const found = await reconcile({ statement });
    expect(kindsOf(found)).toEqual([
      'amount_differs amount',
      'mismatch hash',
      'only_in_journal missing',
      'only_in_statement ghost',
    ]);
    expect(found.find(({ kind }) => kind === 'amount_differs')?.evidence).toEqual({
      ordered: '15000.50',
      statement: '15001',
    });
  });

  it('finds an order that is not settled, and changes nothing', async () => {
    const { journal, service, clock, store } = bench();
    service.next.push('lost');
    await journal.create(order);
    clock.now += 2 * hour;
    const before = await store.list({ prefix: '', limit: 100 });
    expect(await all(journal.reconcile({ since: 0 }))).toMatchObject([
      { kind: 'stuck', evidence: { state: 'unknown' } },
    ]);
    expect(await store.list({ prefix: '', limit: 100 })).toEqual(before);
  });

  it('refuses options that it cannot use, at once', async () => {
    const { journal } = bench();
    // Sound: they are wrong on purpose.
    for (const wrong of [{}, { since: -1 }, { since: 0, statement: 'Order\n1' }, { since: 0, untill: 1 }])
      expect(() => journal.reconcile(wrong as never)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    expect(await rejected(all(journal.reconcile({ since: 0, statement: [{}] as never })))).toMatchObject({
      code: 'invalid_option',
    });
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
          return { key: prefix + key, value: record(key) };
        });
      },
    };
    const { journal } = bench({ store });
    const seen: number[] = [];
    for await (const { kind } of journal.reconcile({ since: 0 })) if (kind === 'held') seen.push(listed);
    expect([seen.length, listed]).toEqual([orders, orders]);
    expect(seen[0]).toBe(page);
  });
});

function record(id: string): JsonObject {
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

describe.each(storeKinds())('reconcile, over $name', ({ open }) => {
  it('reads what the journal has', async () => {
    const { journal, clock } = bench({ onMismatch: () => {} }, open);
    for (const id of ['A', 'B', 'C']) await journal.create(named(id));
    for (const body of [buyInitBody, buyFiatReceivedBody, buyCreditedBody])
      for (const id of ['A', 'B']) await journal.observe(body({ partner_order_id: id }));
    await journal.observe(buyInitBody({ partner_order_id: 'other' }));
    clock.now += 2 * hour;
    expect(kindsOf(await all(journal.reconcile({ since: 0 })))).toEqual([
      'event_without_order other',
      'hash_used_twice B',
      'never_reported C',
    ]);
  });
});
