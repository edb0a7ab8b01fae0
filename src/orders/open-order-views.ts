import { isAhead } from '../store/lease.ts';
import type { JournalHealth } from './journal-types.ts';
import type { OpenOrder } from './open-orders.ts';
import { isOverdue, isUnsettled, type OrderRecord, stateAt } from './order-record.ts';
import type { OrderState } from './order-state.ts';
import type { OrderStore } from './order-store.ts';

/** Counts what is open. Reads the index alone, and no order. */
export async function countOpenOrders(records: OrderStore, now: () => number): Promise<JournalHealth> {
  const open = await records.openOrders();
  const overdue = { acceptedBefore: records.acceptedBefore(), now: now() };
  const unsettled = open.filter(isUnsettled);
  const count = (wanted: OrderState) =>
    unsettled.filter((order) => stateAt(order, overdue.now) === wanted).length;
  const [oldest] = unsettled;
  return {
    prepared: count('prepared'),
    sending: count('sending'),
    waiting: count('waiting'),
    'not-sent': count('not-sent'),
    unknown: count('unknown'),
    unsettled: unsettled.length,
    oldestAgeMs: oldest === undefined ? null : Math.max(0, overdue.now - oldest.openedAt),
    withoutEvent: open.filter((order) => isOverdue(order, overdue)).length,
    mismatches: open.filter(({ attention }) => attention === 'mismatch').length,
    unreported: open.filter(({ unreported }) => unreported === true).length,
    unwritten: records.unwritten,
  };
}

/** The orders that need a person. */
export async function* ordersNeedingAttention(records: OrderStore): AsyncGenerator<OrderRecord> {
  const wanted = (await records.openOrders()).filter(({ attention }) => attention !== undefined);
  for await (const record of readChunks(records, wanted)) {
    // It may have been decided meanwhile.
    if (record.attention !== undefined) yield record;
  }
}

/** The orders that have been unsettled longest come first, then those that have waited longest for an event. */
export async function unsettledOrders(
  records: OrderStore,
  { olderThanMs, limit, now }: { olderThanMs: number; limit: number; now: () => number },
): Promise<OrderRecord[]> {
  const openedBefore = now() - olderThanMs;
  const open = await records.openOrders();
  const overdue = { acceptedBefore: records.acceptedBefore(), now: now() };
  // The clock of another process may be a little ahead.
  const isOld = (time = 0) => Math.min(time, overdue.now) <= openedBefore || isAhead(time, overdue.now);
  const unsettled = open.filter((order) => isUnsettled(order) && isOld(order.openedAt));
  const late = open
    .filter((order) => !isUnsettled(order) && isOverdue(order, overdue) && isOld(order.awaitingEventSince))
    .sort((order, other) => (order.awaitingEventSince ?? 0) - (other.awaitingEventSince ?? 0));
  const unfinished: OrderRecord[] = [];
  for await (const record of readChunks(records, [...unsettled, ...late].slice(0, limit))) {
    // It may have been settled meanwhile.
    if (isUnsettled(record) || isOverdue(record, overdue)) unfinished.push(record);
  }
  return unfinished;
}

/** Records read in one transaction, which delays every writer of one of their keys. */
const chunkSize = 100;

async function* readChunks(records: OrderStore, orders: readonly OpenOrder[]): AsyncGenerator<OrderRecord> {
  for (let start = 0; start < orders.length; start += chunkSize)
    yield* await records.readOpen(orders.slice(start, start + chunkSize));
}
