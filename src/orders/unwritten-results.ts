import { isStoreError } from '../errors/errors.ts';
import type { OrderRecord } from './order-record.ts';
import type { OrderRecords } from './order-records.ts';
import { type AttemptResult, finishAttempt } from './transitions.ts';

interface UnwrittenResult {
  readonly attempt: string;
  readonly result: AttemptResult;
}

type Change = (record: OrderRecord | undefined) => OrderRecord | undefined;

/**
 * Results that the store did not take: until it is back, only this process knows them. The intent of an order that
 * was never sent may be among them, since the store may have committed it and reported a failure.
 */
export function unwrittenResults(
  records: OrderRecords,
  {
    now,
    warnOfContradiction,
  }: {
    readonly now: () => number;
    readonly warnOfContradiction: (before: OrderRecord | undefined, after: OrderRecord) => void;
  },
) {
  const byOrder = new Map<string, readonly UnwrittenResult[]>();
  let writing: Promise<void> | undefined;

  const of = (partnerOrderId: string): readonly UnwrittenResult[] => byOrder.get(partnerOrderId) ?? [];

  function add(partnerOrderId: string, unwritten: UnwrittenResult): void {
    byOrder.set(partnerOrderId, [...of(partnerOrderId), unwritten]);
    const [oldest] = byOrder.keys();
    // A dropped order becomes unknown when its lease is over.
    if (byOrder.size > mostOrders && oldest !== undefined) byOrder.delete(oldest);
  }

  function remove(partnerOrderId: string, written: readonly UnwrittenResult[]): void {
    const rest = of(partnerOrderId).filter((one) => !written.includes(one));
    if (rest.length === 0) byOrder.delete(partnerOrderId);
    else byOrder.set(partnerOrderId, rest);
  }

  function applyTo(
    record: OrderRecord | undefined,
    results: readonly UnwrittenResult[],
  ): OrderRecord | undefined {
    if (record === undefined) return undefined;
    return results.reduce(
      (before, { attempt, result }) => finishAttempt(before, attempt, result, now()),
      record,
    );
  }

  /** Writes the unwritten results of an order first. */
  async function update(partnerOrderId: string, change: Change): Promise<OrderRecord | undefined> {
    const late = of(partnerOrderId);
    const updated = await retryOnce(() =>
      records.update(partnerOrderId, (record) => {
        const current = applyTo(record, late);
        return change(current) ?? current;
      }),
    );
    remove(partnerOrderId, late);
    void write();
    return updated;
  }

  /** Writes all of them, if the store works again. Never rejects. */
  async function write(): Promise<void> {
    if (byOrder.size === 0) return;
    writing ??= writeAll()
      // The store is down again: the next call tries again.
      .catch(() => {})
      .finally(() => {
        writing = undefined;
      });
    await writing;
  }

  async function writeAll(): Promise<void> {
    for (const partnerOrderId of [...byOrder.keys()]) {
      const late = of(partnerOrderId);
      // Moved to the end: it may be the only one that cannot be written.
      if (byOrder.delete(partnerOrderId)) byOrder.set(partnerOrderId, late);
      let before: OrderRecord | undefined;
      const after = await records.update(partnerOrderId, (record) => {
        before = record;
        return applyTo(record, late);
      });
      remove(partnerOrderId, late);
      if (after !== undefined) warnOfContradiction(before, after);
    }
  }

  return { of, add, applyTo, update, write };
}

const mostOrders = 10_000;

/**
 * A connection of a pool may have died unnoticed, and conflicts pass. A change that is applied twice recognises its own
 * result, in case the first try was committed after all.
 */
async function retryOnce<Result>(transact: () => Promise<Result>): Promise<Result> {
  try {
    return await transact();
  } catch (error) {
    if (!isStoreError(error) || error.code === 'store_closed') throw error;
    return await transact();
  }
}
