import { isJsonObject, type JsonObject, type JsonValue, membersOf } from '../../internal/json.ts';
import type { Lease } from '../../store/lease.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { storedForm } from '../../store/stored-form.ts';
import { timeIndex } from '../../store/time-index.ts';
import type { Delivery } from '../inbox.ts';

/** An open delivery or a dead letter, as its record holds it. */
export interface StoredDelivery {
  readonly delivery: Delivery;
  readonly receivedAt: number;
  readonly attempts: number;
  /** The error of the last attempt that failed; empty if none did. */
  readonly reason: string;
  /** The key of its index record. */
  readonly index: string;
  /** Whether it lost a lease once: it is tried alone from then on. */
  readonly alone: boolean;
  /** Absent while it waits and when it is dead. */
  readonly lease?: Lease | undefined;
}

/** Reads `undefined` for a digest that is only remembered, and for a record of another program. */
export const deliveryForm = storedForm<StoredDelivery>(
  'A stored delivery',
  {
    delivery: true,
    receivedAt: true,
    attempts: true,
    reason: true,
    index: true,
    alone: true,
    lease: true,
  },
  (stored) => {
    const { delivery, index } = membersOf(stored);
    const { digest, name, body, key } = membersOf(delivery);
    if ([digest, name, body, index].some((text) => typeof text !== 'string')) return undefined;
    // Sound: a record with a delivery in it was written by this form.
    return isJsonObject(key) ? (stored as unknown as StoredDelivery) : undefined;
  },
);

/** The key of a delivery's record. @param prefix of the inbox */
export function deliveryKey(prefix: string, digest: string): string {
  return `${prefix}delivery/${digest}`;
}

/**
 * The deliveries of an inbox in the order of a time. `due`: by when they may be handled beside others. `alone`: by when
 * they may be handled alone; a leased delivery is here by the end of its lease. `dead`: by when they were received.
 *
 * @param options.prefix of the inbox
 */
export function deliveryIndexes({ store, prefix }: { readonly store: RecordStore; readonly prefix: string }) {
  const open = (name: string) => timeIndex(store, `${prefix}${name}/`);
  return { due: open('due'), alone: open('alone'), dead: open('dead') };
}

/** The record of a delivery that was handled or discarded. */
export const handledRecord: JsonObject = Object.freeze({ handled: true });

/** Whether only its digest is left. */
export function isHandledRecord(stored: JsonValue | undefined): boolean {
  return membersOf(stored).handled === true;
}
