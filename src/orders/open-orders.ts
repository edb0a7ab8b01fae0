import { isJsonObject, type JsonValue } from '../internal/json.ts';
import type { RecordStore } from '../store/record-store.ts';
import { unknownMembers } from '../store/stored-form.ts';
import { isUnsettled, type OrderRecord } from './order-record.ts';

/** An entry of the index of open orders: it tells what there is to do, without the record. */
export type OpenOrder = Pick<OrderRecord, (typeof indexedMembers)[number]> & { readonly idDigest: string };

const indexedMembers = [
  'state',
  'openedAt',
  'changedAt',
  'askedAt',
  'leaseUntil',
  'notBefore',
  'attempts',
  'unreported',
  'handedOver',
  'claimedUntil',
  'attention',
  'awaitingEventSince',
] as const satisfies readonly (keyof OrderRecord)[];

/** Whether there may be something to do about an order, apart from its first event. */
export function isOpen(record: Pick<OrderRecord, 'state' | 'unreported' | 'attention'>): boolean {
  return isUnsettled(record) || record.unreported !== undefined || record.attention !== undefined;
}

/** @param former of the same order, whose members of a newer version stay */
export function toIndexEntry(record: OrderRecord, former: JsonValue | undefined): JsonValue {
  const entry = Object.fromEntries(indexedMembers.map((name) => [name, record[name]]));
  // Sound: a record has only JSON members, and those that are `undefined` are left out.
  return { ...unknownMembers(former, entry), ...entry } as JsonValue;
}

/** The entries of an index, the one that was opened first before the others. */
export async function listOpen(store: RecordStore, prefix: string): Promise<OpenOrder[]> {
  const orders: OpenOrder[] = [];
  for await (const page of listPages(store, prefix)) {
    for (const { key, value } of page) {
      if (!isJsonObject(value)) continue;
      // Sound: `toIndexEntry` wrote it.
      orders.push({ ...(value as unknown as OpenOrder), idDigest: key.slice(prefix.length) });
    }
  }
  return orders.sort((order, other) => order.openedAt - other.openedAt);
}

/** The records whose keys begin with `prefix`, in pages. */
export async function* listPages(
  store: RecordStore,
  prefix: string,
  limit = 1_000,
): AsyncGenerator<readonly { readonly key: string; readonly value: JsonValue }[]> {
  for (let after: string | undefined; ; ) {
    const page = await store.list({ prefix, after, limit });
    yield page;
    if (page.length < limit) return;
    after = page.at(-1)?.key;
  }
}
