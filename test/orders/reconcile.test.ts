import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import type { OrderFinding } from '../../src/orders/order-findings.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import type { OrderStore } from '../../src/orders/order-store.ts';
import { reconcileOrders, type StatementRow } from '../../src/orders/reconcile.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { rejected } from '../support/refusal.ts';
import { bench } from './service.ts';

const now = 1_700_000_000_000;
const hour = 3_600_000;

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
  readonly statement?: readonly StatementRow[];
  readonly since?: number;
  readonly until?: number;
}

async function findings({ records = [], since = 0, ...options }: Books) {
  const reads: number[] = [];
  const found: OrderFinding[] = [];
  // Sound: the functions that it calls.
  const journal = {
    async *all() {
      yield* records;
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
const factsOf = ({ found }: { found: readonly OrderFinding[] }) => found.map(({ advice, ...facts }) => facts);

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
  });
});

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
