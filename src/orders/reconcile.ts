import { hash } from '../internal/hash.ts';
import { invalidOption } from '../internal/options.ts';
import { differencesFrom } from './order-differences.ts';
import { finding, findingsOf, type OrderFinding } from './order-findings.ts';
import type { OrderRecord } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import {
  type ReconcileOptions,
  type ReconcileSettings,
  readReconcileOptions,
  type StatementRow,
} from './reconcile-options.ts';
import type { StrayEvent } from './stray-event.ts';

/** Compares the records with each other and with a statement; it changes nothing. */
export function reconcileOrders(
  options: ReconcileOptions,
  { records, now }: { readonly records: OrderStore; readonly now: number },
): AsyncIterable<OrderFinding> {
  const settings = readReconcileOptions(options);
  const { since, until = Number.POSITIVE_INFINITY, statement } = settings;
  const isInRange = ({ createdAt }: Pick<OrderRecord, 'createdAt'>) =>
    createdAt >= since && createdAt < until;
  return findAll();

  async function* findAll(): AsyncGenerator<OrderFinding, void, undefined> {
    const stated = statement === undefined ? undefined : new Set<number>();
    if (statement !== undefined && stated !== undefined)
      yield* compareStatement(statement, { records, stated, isInRange });
    const hashes = bitFilter();
    /** Hashes that two orders may have. */
    const repeated = new Set<string>();
    for await (const { record, stray } of records.readAll()) {
      if (stray !== undefined && isInRange({ createdAt: stray.at })) yield findStray(stray);
      if (record === undefined) continue;
      for (const payment of paymentsOf(record)) if (hashes.add(payment)) repeated.add(payment);
      if (isInRange(record)) yield* compareOrder(record, stated, { now, settings });
    }
    yield* findRepeated(repeated, { records, isInRange });
  }
}

function findStray({ partner_order_id: id, name, digest, at }: StrayEvent): OrderFinding {
  return finding('event_without_order', id, { since: at, evidence: { name, digest } });
}

function* compareOrder(
  record: OrderRecord,
  stated: ReadonlySet<number> | undefined,
  { now, settings }: { readonly now: number; readonly settings: ReconcileSettings },
): Generator<OrderFinding> {
  const { olderThanMs } = settings;
  yield* findingsOf(record, { now, olderThanMs });
  const { partner_order_id: id, state, changedAt: since, evidence = null } = record;
  const isMissing = stated !== undefined && state === 'accepted' && !stated.has(shortHash(id));
  if (isMissing && now - since >= olderThanMs)
    yield finding('only_in_journal', id, { since, evidence: { evidence } });
}

async function* compareStatement(
  statement: NonNullable<ReconcileOptions['statement']>,
  {
    records,
    stated,
    isInRange,
  }: {
    readonly records: OrderStore;
    readonly stated: Set<number>;
    readonly isInRange: (record: OrderRecord) => boolean;
  },
): AsyncGenerator<OrderFinding, void, undefined> {
  let rows: StatementRow[] = [];
  async function* compareRows(): AsyncGenerator<OrderFinding, void, undefined> {
    const found = await records.readEach(rows.map(({ id }) => id));
    for (const [index, row] of rows.entries()) {
      const record = found[index];
      if (record === undefined)
        yield finding('only_in_statement', row.id, { since: null, evidence: { ...amountOf(row) } });
      else if (isInRange(record)) yield* compareRow(row, record);
    }
    rows = [];
  }
  for await (const row of statement) {
    if (typeof row?.id !== 'string') throw invalidOption('Each row of the statement needs an id.');
    stated.add(shortHash(row.id));
    rows.push(row);
    if (rows.length === chunkSize) yield* compareRows();
  }
  yield* compareRows();
}

/** Rows looked up at once. */
const chunkSize = 100;

function* compareRow(row: StatementRow, record: OrderRecord): Generator<OrderFinding> {
  const { ordered, timeline, partner_order_id: id, changedAt: since } = record;
  const amount = row.amount && plainNumber(row.amount);
  const [difference] = differencesFrom(
    { fiat_amount_to_pay: amount },
    { isAddress: () => true, fiat_amount: ordered.fiat_amount },
  );
  if (difference !== undefined) {
    const evidence = { ordered: difference.ordered ?? null, statement: row.amount ?? null };
    yield finding('amount_differs', id, { since, evidence });
  }
  const { crypto_txn_hash: known = [] } = timeline?.facts ?? {};
  const isOther =
    row.hash &&
    known.length > 0 &&
    !known.some((each) => plainHash(String(each)) === plainHash(row.hash ?? ''));
  if (isOther)
    yield finding('mismatch', id, {
      since,
      evidence: { crypto_txn_hash: [...known], statement: row.hash ?? null },
    });
}

function amountOf({ amount }: StatementRow) {
  return amount === undefined ? {} : { amount };
}

/** `NGN 15,000.50` as `15000.50`. */
function plainNumber(amount: string): string {
  const bare = amount.trim().replace(/^[A-Za-z]{3}\s+|\s+[A-Za-z]{3}$/g, '');
  return /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(bare) ? bare.replaceAll(',', '') : bare;
}

/** All orders count: a payment of an earlier one may be given for one of today. */
async function* findRepeated(
  repeated: ReadonlySet<string>,
  {
    records,
    isInRange,
  }: { readonly records: OrderStore; readonly isInRange: (record: OrderRecord) => boolean },
): AsyncGenerator<OrderFinding, void, undefined> {
  if (repeated.size === 0) return;
  const owners = new Map<string, OrderRecord[]>();
  for await (const { record } of records.readAll()) {
    if (record === undefined) continue;
    for (const each of paymentsOf(record)) {
      if (repeated.has(each)) owners.set(each, [...(owners.get(each) ?? []), record]);
    }
  }
  for (const [crypto_txn_hash, orders] of owners) {
    if (orders.length < 2) continue;
    for (const order of orders.filter(isInRange)) {
      const { partner_order_id: id, changedAt: since } = order;
      const others = orders.filter((each) => each !== order).slice(0, 10);
      const evidence = { crypto_txn_hash, others: others.map(({ partner_order_id: other }) => other) };
      yield finding('hash_used_twice', id, { since, evidence });
    }
  }
}

/** Each once: the events of one order may spell its hash in several ways. */
function paymentsOf({ timeline }: OrderRecord): ReadonlySet<string> {
  const hashes = timeline?.facts.crypto_txn_hash ?? [];
  return new Set(hashes.map((each) => plainHash(String(each))));
}

/** Hexadecimal digits in any case are one hash, with `0x` and without. */
function plainHash(text: string): string {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? [];
  return digits === undefined ? text : digits.toLowerCase();
}

/** Remembers any number of texts in 2 MiB, and takes one for another: of a million about 400, of 100,000 none. */
function bitFilter() {
  const bits = new Uint8Array(2 ** 21);
  return {
    /** Returns whether the text may have been added before. */
    add(text: string): boolean {
      const digest = hash('sha256', text, 'hex');
      let isKnown = true;
      for (const start of [0, 6, 12, 18]) {
        const position = Number.parseInt(digest.slice(start, start + 6), 16);
        const [index, mask] = [position >> 3, 1 << (position & 7)];
        const byte = bits[index] ?? 0;
        isKnown &&= (byte & mask) !== 0;
        bits[index] = byte | mask;
      }
      return isKnown;
    },
  };
}

/** 52 bits: of a million texts two are alike once in ten thousand statements. */
function shortHash(text: string): number {
  return Number.parseInt(hash('sha256', JSON.stringify(text), 'hex').slice(0, 13), 16);
}
