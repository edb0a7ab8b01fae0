import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import type { Handling } from '../handling-options.ts';
import {
  deliveryForm,
  deliveryIndexes,
  deliveryKey,
  handledRecord,
  type StoredDelivery,
} from './record-form.ts';

export interface DeliveryTableOptions extends Pick<Handling, 'rememberMs' | 'now'> {
  readonly store: RecordStore;
  readonly prefix: string;
}

export type DeliveryTable = ReturnType<typeof deliveryTable>;

export const digestForm = /^[0-9a-f]{64}$/;

/**
 * The deliveries of an inbox in a record store. Each has one record by its digest, which stays as the memory of the
 * digest once it is handled, and one index record, whose key says where it is in which order.
 */
export function deliveryTable({ store, prefix, rememberMs, now }: DeliveryTableOptions) {
  const indexes = deliveryIndexes({ store, prefix });
  const keyOf = (digest: string) => deliveryKey(prefix, digest);
  const read = (records: RecordSet, digest: string) => deliveryForm.read(records.get(keyOf(digest)));

  return {
    indexes,
    keyOf,
    read,

    readAll(digests: readonly string[]): Promise<(StoredDelivery | undefined)[]> {
      return store.transact(digests.map(keyOf), (records) => digests.map((digest) => read(records, digest)));
    },

    isDead: ({ index }: StoredDelivery): boolean => indexes.dead.holds(index),

    waitingKey: ({ delivery, alone }: Pick<StoredDelivery, 'delivery' | 'alone'>, at: number): string =>
      indexes[alone ? 'alone' : 'due'].keyOf(at, delivery.digest),

    /**
     * @param where.at the reading of the clock that `index` was made from: it may be set back meanwhile
     * @param where.from the key of its index record until now
     */
    put(
      records: RecordSet,
      stored: StoredDelivery,
      { at, from = stored.index }: { readonly at: number; readonly from?: string },
    ): void {
      const { delivery, index, receivedAt } = stored;
      const key = keyOf(delivery.digest);
      const entry = indexes.due.write(receivedAt, { at, former: records.get(from) });
      records.set(key, deliveryForm.write(stored, records.get(key)));
      records.delete(from);
      records.set(index, entry);
    },

    /** Leaves nothing of a delivery but its digest. */
    forget(records: RecordSet, { digest, index }: { readonly digest: string; readonly index: string }): void {
      const expiresAt = Math.min(Math.floor(now()) + rememberMs, Number.MAX_SAFE_INTEGER);
      records.set(keyOf(digest), handledRecord, { expiresAt });
      records.delete(index);
    },

    /**
     * Changes a delivery together with the index record that it has now; `undefined` without one.
     *
     * @param further more keys of the transaction
     */
    async change<Result>(
      digest: string,
      apply: (stored: StoredDelivery, records: RecordSet) => Result,
      further: (stored: StoredDelivery) => readonly string[] = () => [],
    ): Promise<Result | undefined> {
      if (!digestForm.test(digest)) return undefined;
      for (;;) {
        const seen = await store.transact([keyOf(digest)], (records) => read(records, digest));
        if (seen === undefined) return undefined;
        const changeSeen = (records: RecordSet) => {
          const stored = read(records, digest);
          return stored?.index === seen.index ? { result: apply(stored, records) } : undefined;
        };
        const done = await store.transact([keyOf(digest), seen.index, ...further(seen)], changeSeen);
        if (done !== undefined) return done.result;
      }
    },
  };
}
