import type { JsonObject } from '../json/json-value.ts';
import { hash } from '../signature/hash.ts';
import { writeSorted } from '../signature/write-json.ts';

/**
 * Tells whether two orders are the same: SHA-256, in hex, of the merchant and of what the order schema made of the
 * payload, members sorted. So the order of members does not matter, nor does a member that is `undefined`. Wire names
 * are not in it: a corrected one must not make another order of it.
 */
export function orderDigest(payload: JsonObject, merchant: string | undefined): string {
  return hash('sha256', writeSorted([merchant ?? null, payload]), 'hex');
}

/** The part of a key that stands for an order: an id can be any text, a key cannot. */
export function orderIdDigest(partnerOrderId: string): string {
  // As JSON, since UTF-8 would make the same bytes of all lone surrogates.
  return hash('sha256', JSON.stringify(partnerOrderId), 'hex');
}
