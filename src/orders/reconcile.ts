import { hash } from '../internal/hash.ts';
import { defineOptions, integer, invalidOption, type OptionTable, optional } from '../internal/options.ts';
import { differencesFrom } from './order-differences.ts';
import { finding, findingsOf, type OrderFinding } from './order-findings.ts';
import type { OrderRecord } from './order-record.ts';
import type { OrderStore } from './order-store.ts';

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** Only orders that the journal got at this time or later, in milliseconds since 1970. */
  since: number;
  /** Only orders that it got before this time. @default now */
  until?: number | undefined;
  /** Milliseconds after which an event or a step that is expected counts as missing. @default 3600000, an hour */
  olderThanMs?: number | undefined;
  /** The orders that the service says it has, such as the rows of a CSV file from its dashboard. */
  statement?: AsyncIterable<StatementRow> | Iterable<StatementRow> | undefined;
}

/** An order in a statement of the service. */
export interface StatementRow {
  /** The `partner_order_id`. */
  readonly id: string;
  /** The fiat amount that the buyer paid, such as `15,000.50`. */
  readonly amount?: string | undefined;
  /** The hash of the crypto payment. */
  readonly hash?: string | undefined;
}

const readReconcileOptions = defineOptions('reconcile', {
  since: integer({ least: 0 }),
  until: optional(integer({ least: 0 })),
  olderThanMs: integer({ default: 3_600_000, least: 0 }),
  statement: optional((given) => {
    // Sound as far as it can be: the rows are checked when they are read.
    const rows = Object(given) as NonNullable<ReconcileOptions['statement']>;
    if (typeof given !== 'string' && (Symbol.asyncIterator in rows || Symbol.iterator in rows)) return rows;
    throw invalidOption('statement must be an iterable of rows.');
  }),
} satisfies OptionTable<ReconcileOptions>);

/** Compares the records with each other and with a statement; it changes nothing. */
export function reconcileOrders(
  options: ReconcileOptions,
  { records, now }: { readonly records: OrderStore; readonly now: number },
): AsyncIterable<OrderFinding> {
  const { since, until = Number.POSITIVE_INFINITY, olderThanMs, statement } = readReconcileOptions(options);
  const isInRange = (time: number) => time >= since && time < until;
  return findAll();

  async function* findAll(): AsyncGenerator<OrderFinding, void, undefined> {
    /** The short hashes of the ids in the statement. */
    const stated = new Set<number>();
    if (statement !== undefined) yield* compareStatement(statement, { records, stated, isInRange });
    const payments: Payments = new Map();
    for await (const record of records.all()) {
      yield* comparePayments(record, { payments, isInRange });
      const { partner_order_id: id, state, createdAt, changedAt, evidence = null } = record;
      if (!isInRange(createdAt)) continue;
      yield* findingsOf(record, { now, olderThanMs });
      const isMissing = statement !== undefined && state === 'accepted' && !stated.has(shortHash(id));
      if (isMissing && now - changedAt >= olderThanMs)
        yield finding('only_in_journal', id, { since: changedAt, evidence: { evidence } });
    }
  }
}

interface StatementContext {
  readonly records: OrderStore;
  readonly stated: Set<number>;
  readonly isInRange: (time: number) => boolean;
}

async function* compareStatement(
  statement: NonNullable<ReconcileOptions['statement']>,
  { records, stated, isInRange }: StatementContext,
): AsyncGenerator<OrderFinding, void, undefined> {
  for await (const rows of inChunks(statement)) {
    const orders = await records.readEach(rows.map(({ id }) => id));
    for (const [index, row] of rows.entries()) {
      const { id, amount } = row;
      const record = orders[index];
      stated.add(shortHash(id));
      if (record !== undefined && isInRange(record.createdAt)) yield* compareRow(row, record);
      if (record !== undefined) continue;
      const evidence = { ...(amount !== undefined && { amount }) };
      yield finding('only_in_statement', id, { since: null, evidence });
    }
  }
}

/** Rows looked up at once. */
const chunkSize = 100;

async function* inChunks(
  statement: NonNullable<ReconcileOptions['statement']>,
): AsyncGenerator<readonly StatementRow[], void, undefined> {
  let rows: StatementRow[] = [];
  for await (const row of statement) {
    if (typeof row?.id !== 'string') throw invalidOption('Each row of the statement needs an id.');
    rows.push(row);
    if (rows.length < chunkSize) continue;
    yield rows;
    rows = [];
  }
  yield rows;
}

function* compareRow({ amount, hash: paidBy }: StatementRow, record: OrderRecord): Generator<OrderFinding> {
  const { ordered, timeline, partner_order_id: id, changedAt: since } = record;
  const [difference] = differencesFrom(
    { fiat_amount_to_pay: amount && plainNumber(amount) },
    { isAddress: () => true, fiat_amount: ordered.fiat_amount },
  );
  if (difference !== undefined) {
    const evidence = { ordered: difference.ordered ?? null, statement: amount ?? null };
    yield finding('amount_differs', id, { since, evidence });
  }
  const { crypto_txn_hash: known = [] } = timeline?.facts ?? {};
  const isKnown = known.length === 0 || !paidBy || paymentsOf(record).has(plainHash(paidBy));
  if (!isKnown)
    yield finding('mismatch', id, { since, evidence: { crypto_txn_hash: [...known], statement: paidBy } });
}

/** `NGN 15,000.50` as `15000.50`. */
function plainNumber(amount: string): string {
  const bare = amount.trim().replace(/^[A-Za-z]{3}\s+|\s+[A-Za-z]{3}$/g, '');
  return /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
}

/** The first order of each payment, by the short hash of the payment. */
type Payments = Map<number, Pick<OrderRecord, 'partner_order_id' | 'createdAt'>>;

/** Orders of any time count: a payment of an earlier one may be given for one of today. */
function* comparePayments(
  record: OrderRecord,
  { payments, isInRange }: { readonly payments: Payments; readonly isInRange: (time: number) => boolean },
): Generator<OrderFinding> {
  const { partner_order_id, createdAt, changedAt: since } = record;
  for (const crypto_txn_hash of paymentsOf(record)) {
    const key = shortHash(crypto_txn_hash);
    const first = payments.get(key);
    if (first === undefined) payments.set(key, { partner_order_id, createdAt });
    else if (isInRange(createdAt) || isInRange(first.createdAt)) {
      const evidence = { crypto_txn_hash, other: first.partner_order_id };
      yield finding('hash_used_twice', partner_order_id, { since, evidence });
    }
  }
}

/** Each once: the events of one order may spell its hash in several ways. */
function paymentsOf({ timeline }: OrderRecord): ReadonlySet<string> {
  const hashes = timeline?.facts.crypto_txn_hash ?? [];
  return new Set(hashes.map((payment) => plainHash(String(payment))));
}

/** Hexadecimal digits in any case are one hash, with `0x` and without. */
function plainHash(text: string): string {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  return digits === undefined ? text : digits.toLowerCase();
}

/** 52 bits: among a million texts two are alike once in ten thousand times. */
function shortHash(text: string): number {
  return Number.parseInt(hash('sha256', JSON.stringify(text), 'hex').slice(0, 13), 16);
}
