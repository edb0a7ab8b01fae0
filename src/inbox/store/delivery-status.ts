import type { ProcessView } from '../../store/process-identity.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { DeliveryStatus } from '../inbox.ts';
import {
  deliveryForm,
  deliveryIndexes,
  deliveryKey,
  isHandledRecord,
  type StoredDelivery,
} from './record-form.ts';

const beginningForm = /^[0-9a-f]{1,64}$/;
const mostRead = 100;
/** The most records that `list` of a store returns. */
const largestPage = 1_000;

interface DeliveryStatusOptions {
  readonly store: RecordStore;
  readonly prefix: string;
  readonly processes: ProcessView;
}

/** What the records of an inbox tell a person. It changes nothing. */
export function deliveryStatus(options: DeliveryStatusOptions) {
  const { store, prefix, processes } = options;
  const indexes = deliveryIndexes(options);
  const digestOf = (key: string) => key.slice(deliveryKey(prefix, '').length);

  function toStatus(stored: StoredDelivery): DeliveryStatus {
    const { delivery, receivedAt, attempts, lease, reason, index } = stored;
    const holder = lease?.holder;
    const isDead = indexes.dead.holds(index);
    const dueAt = Number(index.split('/').at(-2));
    return {
      digest: delivery.digest,
      state: isDead ? 'dead' : lease !== undefined ? 'held' : 'waiting',
      name: delivery.name,
      receivedAt: new Date(receivedAt),
      attempts,
      ...(!isDead && { dueAt: new Date(dueAt) }),
      ...(holder && {
        holder: { pid: holder.pid, space: holder.space, hasEnded: processes.hasEnded(holder) },
      }),
      reason,
    };
  }

  return {
    /** Describes the deliveries whose digests begin so. */
    async find(beginning: string, limit: number): Promise<DeliveryStatus[]> {
      if (!beginningForm.test(beginning)) return [];
      const found = await store.list({
        prefix: deliveryKey(prefix, beginning),
        limit: Math.min(limit, largestPage),
      });
      return found.flatMap(({ key, value }): DeliveryStatus[] => {
        const stored = deliveryForm.read(value);
        if (stored !== undefined) return [toStatus(stored)];
        return isHandledRecord(value) ? [{ digest: digestOf(key), state: 'handled' }] : [];
      });
    },

    /** Describes the leased deliveries, by the end of their leases. */
    async held(limit: number): Promise<DeliveryStatus[]> {
      const held: DeliveryStatus[] = [];
      for await (const entries of indexes.alone.pages({ size: mostRead })) {
        const keys = entries.map(({ digest }) => deliveryKey(prefix, digest));
        for (const value of await store.transact(keys, (records) => keys.map((key) => records.get(key)))) {
          const stored = deliveryForm.read(value);
          if (stored?.lease !== undefined) held.push(toStatus(stored));
          if (held.length === limit) return held;
        }
      }
      return held;
    },
  };
}
