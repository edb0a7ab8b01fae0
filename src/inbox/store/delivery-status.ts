import type { DeliveryStatus, InboxCounts } from '../inbox.ts';
import { type DeliveryTableOptions, deliveryTable } from './delivery-table.ts';
import { deliveryForm, isHandledRecord, type StoredDelivery } from './record-form.ts';

const beginningForm = /^[0-9a-f]{1,64}$/;
/** The most records that `list` of a store returns. */
const largestPage = 1_000;

/** What the records of an inbox tell a person. It changes nothing. */
export function deliveryStatus(options: DeliveryTableOptions) {
  const { store } = options;
  const table = deliveryTable(options);
  const { indexes, keyOf } = table;
  const digestOf = (key: string) => key.slice(keyOf('').length);

  function toStatus(stored: StoredDelivery): DeliveryStatus {
    const { delivery, receivedAt, attempts, lease, reason, index } = stored;
    const isDead = table.isDead(stored);
    const dueAt = Number(index.split('/').at(-2));
    return {
      digest: delivery.digest,
      state: isDead ? 'dead' : lease !== undefined ? 'held' : 'waiting',
      name: delivery.name,
      receivedAt: new Date(receivedAt),
      attempts,
      ...(!isDead && { dueAt: new Date(dueAt) }),
      reason,
    };
  }

  return {
    /** Describes the deliveries whose digests begin so. */
    async find(beginning: string, limit: number): Promise<DeliveryStatus[]> {
      if (!beginningForm.test(beginning)) return [];
      const records = await store.list({ prefix: keyOf(beginning), limit: Math.min(limit, largestPage) });
      return records.flatMap(({ key, value }): DeliveryStatus[] => {
        const stored = deliveryForm.read(value);
        if (stored !== undefined) return [toStatus(stored)];
        return isHandledRecord(value) ? [{ digest: digestOf(key), state: 'handled' }] : [];
      });
    },

    async counts(): Promise<InboxCounts> {
      const counts = await Promise.all(Object.values(indexes).map((index) => index.count()));
      const [waiting = 0, alone = 0, dead = 0] = counts;
      return { open: waiting + alone, dead };
    },

    /** Looks at the first page of each index: at all of them, or at those that are due first. */
    async oldestAgeMs(): Promise<number | null> {
      const pages = await Promise.all([indexes.due, indexes.alone].map(({ list }) => list(largestPage)));
      const oldest = Math.min(...pages.flat().map(({ value }) => value.receivedAt));
      return Number.isFinite(oldest) ? Math.max(0, Math.round(options.now() - oldest)) : null;
    },

    /** How many are open, but no more than this. */
    async countOpen(most: number): Promise<number> {
      const waiting = await indexes.due.count(most);
      return waiting + (await indexes.alone.count(most - waiting));
    },
  };
}
