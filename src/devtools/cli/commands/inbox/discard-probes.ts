import { deliveryForm, deliveryKey, type StoredDelivery } from '../../../../inbox/store/record-form.ts';
import { membersOf, tryParse } from '../../../../internal/json.ts';
import type { RecordStore } from '../../../../store/record-store.ts';
import { probeIdForm } from '../../../diagnostics/attack/probes.ts';

/** The records of an inbox. */
export interface ProbeRecords {
  readonly store: RecordStore;
  /** The prefix of the inbox. */
  readonly prefix: string;
}

const pageSize = 1_000;

/**
 * Removes what an attack left in an inbox: dead letters and waiting deliveries about orders that it made. Nothing of
 * them stays, since no order of an attack comes again.
 */
export async function* discardProbes({ store, prefix }: ProbeRecords) {
  let after: string | undefined;
  for (;;) {
    const page = await store.list({ prefix: deliveryKey(prefix, ''), after, limit: pageSize });
    for (const { key, value } of page) {
      const stored = deliveryForm.read(value);
      if (stored === undefined || !isProbe(stored)) continue;
      const { digest, name } = stored.delivery;
      yield { digest, name, done: await removeUnlessHeld(store, key, stored) };
    }
    if (page.length < pageSize) return;
    after = page.at(-1)?.key;
  }
}

function isProbe({ delivery: { body } }: StoredDelivery): boolean {
  const { partner_order_id: id } = membersOf(tryParse(body));
  return typeof id === 'string' && probeIdForm.test(id);
}

/** A worker that holds it needs its record. */
async function removeUnlessHeld(store: RecordStore, key: string, { index }: StoredDelivery) {
  return await store.transact([key, index], (records) => {
    const stored = deliveryForm.read(records.get(key));
    if (stored?.index !== index || stored.lease !== undefined) return false;
    records.delete(key);
    records.delete(index);
    return true;
  });
}
