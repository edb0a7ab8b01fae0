import { hash } from '../signature/hash.ts';

/**
 * What a delivery is known by: SHA-256, in hex, of its partner and of the text that identifies it.
 *
 * The partner is in it, so that one partner's delivery never counts as a repetition of another's with the same text.
 * The key is not: the service may repeat a delivery with the next generation of keys. The length of the partner's
 * name stands before it, so that no two pairs give one text.
 *
 * @param pinned see `pinnedText`
 */
export function deliveryDigest(partner: string, pinned: string): string {
  return hash('sha256', `${partner.length}:${partner}${pinned}`, 'hex');
}
