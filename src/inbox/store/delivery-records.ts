import { storableText } from '../../internal/driver-error.ts';
import { refuseNewer } from '../../store/stored-form.ts';
import type { Delivery } from '../inbox.ts';
import { type DeliveryLeasesOptions, deliveryLeases } from './delivery-leases.ts';
import { deliveryTable, digestForm } from './delivery-table.ts';
import { storedDeadLetters } from './stored-dead-letters.ts';

/** Stores deliveries, leases them, and keeps those that failed as dead letters. */
export function deliveryRecords(options: DeliveryLeasesOptions) {
  const { shared, now } = options;
  const table = deliveryTable(options);
  return {
    async insert(delivery: Delivery): Promise<'stored' | 'duplicate'> {
      if (!digestForm.test(delivery.digest))
        throw new TypeError('The digest of a delivery is 64 hexadecimal digits.');
      const key = table.keyOf(delivery.digest);
      const receivedAt = Math.floor(now());
      const index = table.indexes.due.keyOf(receivedAt, delivery.digest);
      return await shared.transact([key, index], (records) => {
        if (refuseNewer(records.get(key), 'The delivery') !== undefined) return 'duplicate';
        // PostgreSQL takes no text with the character 0, which a sender may put into a name.
        const named = { ...delivery, name: storableText(delivery.name) };
        const stored = { delivery: named, receivedAt, attempts: 0, reason: '', index, alone: false };
        table.put(records, stored, { at: receivedAt });
        return 'stored';
      });
    },
    ...deliveryLeases(table, options),
    ...storedDeadLetters(table, now),
  };
}
