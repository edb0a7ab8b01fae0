import type { OrderRecord } from './order-record.ts';
import { finishAttempt, type OrderAttemptResult, withReport } from './transitions.ts';

/** A result that the store did not take: until it is written, only this process knows it. */
export interface UnwrittenResult {
  readonly attempt: string;
  readonly result: OrderAttemptResult;
  /** Whether `onSettled` has to be called for it. */
  readonly reports: boolean;
}

/** The results that the store has not taken, by the ids of their orders. */
export class UnwrittenResults {
  readonly #results = new Map<string, readonly UnwrittenResult[]>();

  /** Orders with such a result. */
  get size(): number {
    return this.#results.size;
  }

  ids(): readonly string[] {
    return [...this.#results.keys()];
  }

  of(partnerOrderId: string): readonly UnwrittenResult[] {
    return this.#results.get(partnerOrderId) ?? [];
  }

  add(partnerOrderId: string, result: UnwrittenResult): void {
    this.#set(partnerOrderId, [...this.of(partnerOrderId), result]);
  }

  /** Moves the order to the end, so that one bad order does not hold up the others. */
  moveToEnd(partnerOrderId: string): void {
    this.#set(partnerOrderId, this.of(partnerOrderId));
  }

  remove(partnerOrderId: string, written: readonly UnwrittenResult[]): void {
    this.#set(
      partnerOrderId,
      this.of(partnerOrderId).filter((result) => !written.includes(result)),
    );
  }

  #set(partnerOrderId: string, results: readonly UnwrittenResult[]): void {
    this.#results.delete(partnerOrderId);
    if (results.length > 0) this.#results.set(partnerOrderId, results);
    const [oldest] = this.#results.keys();
    // A dropped order becomes unknown when its lease is over.
    if (this.#results.size > mostUnwritten && oldest !== undefined) this.#results.delete(oldest);
  }
}

const mostUnwritten = 10_000;

/** The record once these results are written into it. */
export function applyResults(
  record: OrderRecord | undefined,
  results: readonly UnwrittenResult[],
  now: number,
): OrderRecord | undefined {
  return results.reduce((before, { attempt, result, reports }) => {
    const after = before && finishAttempt(before, attempt, result, now);
    return after && reports ? withReport(before, after, now) : after;
  }, record);
}
