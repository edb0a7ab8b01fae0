import { hash } from '../signature/hash.ts';

/**
 * Identifies a delivery: SHA-256, in hex, of its partner and of the text that the signature pins.
 *
 * It includes the partner, so that one partner's delivery never counts as a repetition of another's with the same text.
 * It leaves the key out: the service may repeat a delivery with the next generation of keys. The length of the
 * partner's name goes first, so that no two pairs give the same text.
 *
 * @param pinned see `pinnedText`
 */
export function deliveryDigest(partner: string, pinned: string): string {
  return hash('sha256', `${partner.length}:${partner}${pinned}`, 'hex');
}
