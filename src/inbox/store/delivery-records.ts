import { storableText } from '../../internal/driver-error.ts';
import type { RecordSet } from '../../store/record-store.ts';
import { refuseNewer } from '../../store/stored-form.ts';
import { type DeadLetter, type DeadLetterQuery, toDeadLetter } from '../dead-letters.ts';
import type { Delivery } from '../inbox.ts';
import { type DeliveryLeasesOptions, deliveryLeases } from './delivery-leases.ts';
import { type DeliveryTable, deliveryTable, digestForm } from './delivery-table.ts';
import type { StoredDelivery } from './record-form.ts';

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
        // A store over jsonb of PostgreSQL takes no text with the character 0, which a sender may put into a name.
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

/** The dead letters among the deliveries, and what a person does with them. */
function storedDeadLetters(table: DeliveryTable, now: () => number) {
  const { indexes, isDead, waitingKey } = table;
  return {
    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const letters: DeadLetter[] = [];
      for await (const entries of indexes.dead.pages(limit))
        for (const stored of await table.readAll(entries.map(({ digest }) => digest)))
          if (stored !== undefined && isDead(stored)) letters.push(toDeadLetter(stored, withBody));
      return letters;
    },

    deadLetter: (digest: string): Promise<DeadLetter | undefined> =>
      table.change(digest, (stored) => (isDead(stored) ? toDeadLetter(stored, true) : undefined)),

    async replay(digest: string): Promise<boolean> {
      const at = now();
      function putBack(stored: StoredDelivery, records: RecordSet): boolean {
        if (!isDead(stored)) return false;
        const waiting = { ...stored, attempts: 0, index: waitingKey(stored, at) };
        table.put(records, waiting, { at, from: stored.index });
        return true;
      }
      return (await table.change(digest, putBack, (stored) => [waitingKey(stored, at)])) ?? false;
    },

    async discard(digest: string): Promise<boolean> {
      const isDiscarded = await table.change(digest, (stored, records) => {
        if (isDead(stored)) table.forget(records, { digest, index: stored.index });
        return isDead(stored);
      });
      return isDiscarded ?? false;
    },
  };
}
