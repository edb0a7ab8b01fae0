import { warnOnce } from '../internal/warn.ts';
import type { JournalSettings } from './journal-options.ts';
import { type OrderRecord, toJournaledOrder } from './order-record.ts';
import type { OrderStore } from './order-store.ts';
import { hookCalled, withReport } from './transitions.ts';

/** The calls of `onSettled`, for results that no caller waits for. */
export class SettledReports {
  readonly #settings: Pick<JournalSettings, 'onSettled' | 'leaseMs' | 'now'>;
  readonly #records: OrderStore;

  constructor(settings: Pick<JournalSettings, 'onSettled' | 'leaseMs' | 'now'>, records: OrderStore) {
    this.#settings = settings;
    this.#records = records;
  }

  /** The changed record: this process calls the hook first if it has one, otherwise the loop of any that has. */
  mark(before: OrderRecord, after: OrderRecord): OrderRecord {
    const { onSettled, leaseMs, now } = this.#settings;
    if (onSettled !== undefined) return withReport(before, after, now() + leaseMs);
    return before.reports === true ? withReport(before, after, now()) : after;
  }

  /** @throws what `onSettled` throws, or a StoreError: then the loop calls it again */
  async call(record: OrderRecord): Promise<void> {
    const { onSettled, now } = this.#settings;
    if (onSettled === undefined || record.unreported === undefined) return;
    await onSettled(toJournaledOrder(record, now()));
    await this.#records.update(
      record.partner_order_id,
      (current) => current && hookCalled(current, record, 'report'),
    );
  }

  /** Calls it if the state has changed. Never rejects. */
  async callAfter(before: OrderRecord | undefined, after: OrderRecord): Promise<void> {
    if (before?.state !== after.state) await this.call(after).catch(() => warnOnce(failedReport));
  }
}

const failedReport =
  'onSettled of createOrderJournal failed, so the column or queue that it writes may lack a state of an order: the loop of start calls it again.';
