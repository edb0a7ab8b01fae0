import type { RecordSet } from '../../store/record-store.ts';
import { type DeadLetter, type DeadLetterQuery, toDeadLetter } from '../dead-letters.ts';
import type { DeliveryTable } from './delivery-table.ts';
import type { StoredDelivery } from './record-form.ts';

const mostRead = 100;

/** The dead letters among the deliveries, and what a person does with them. */
export function storedDeadLetters(table: DeliveryTable, now: () => number) {
  const { indexes, isDead, waitingKey } = table;
  return {
    async deadLetters({ limit, withBody }: DeadLetterQuery): Promise<DeadLetter[]> {
      const letters: DeadLetter[] = [];
      for await (const entries of indexes.dead.pages({ size: mostRead, most: limit }))
        for (const stored of await table.readAll(entries.map(({ digest }) => digest)))
          if (stored !== undefined && isDead(stored)) letters.push(readDeadLetter(stored, withBody));
      return letters;
    },

    deadLetter: (digest: string): Promise<DeadLetter | undefined> =>
      table.change(digest, (stored) => (isDead(stored) ? readDeadLetter(stored, true) : undefined)),

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

function readDeadLetter({ delivery, receivedAt, ...state }: StoredDelivery, withBody: boolean): DeadLetter {
  return toDeadLetter(delivery, { ...state, receivedAt: new Date(receivedAt) }, withBody);
}
