import { hash } from '../internal/hash.ts';
import { decodeBase58 } from './base58.ts';
import type { FormRules } from './form-rules.ts';

const addressBytes = 25;
const mainNetPrefix = 0x41;

/**
 * Base58Check: 0x41, the 20 bytes of the account, and the first four of their double SHA-256 (TRON's documentation:
 * Accounts, "Account address format").
 */
export const tron: FormRules = {
  examine(text) {
    // 25 bytes are at most 35 digits.
    const bytes = text.length > 35 ? undefined : decodeBase58(text);
    if (bytes?.length !== addressBytes) return 'form';
    if (!doubleHash(bytes.subarray(0, -4)).startsWith(bytes.toString('hex', addressBytes - 4)))
      return 'checksum';
    if (bytes[0] !== mainNetPrefix) return 'form';
    return bytes.subarray(1, -4).every((byte) => byte === 0) ? 'zero_address' : undefined;
  },
  isPossible: (reason) => reason === undefined || reason === 'zero_address',
  sameText: (text) => text,
  // USDT: tether.to, "Supported protocols" (Tron).
  contracts: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
};

/** In hexadecimal. */
function doubleHash(bytes: Uint8Array): string {
  return hash('sha256', Buffer.from(hash('sha256', bytes, 'binary'), 'latin1'), 'hex');
}
