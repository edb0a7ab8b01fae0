import { keccak_256 } from '@noble/hashes/sha3.js';
import type { FormRules } from './form-rules.ts';

/** 20 bytes in hexadecimal. The case of its letters is a checksum (EIP-55), unless all are in one case. */
export const evm: FormRules = {
  examine(text) {
    if (!/^0x[0-9a-f]{40}$/i.test(text) || text[1] !== 'x') return 'form';
    const written = text.slice(2);
    if (/^0+$/.test(written)) return 'zero_address';
    if (written === written.toLowerCase() || written === written.toUpperCase()) return 'no_checksum';
    return fitsChecksum(written) ? undefined : 'checksum';
  },
  isPossible: (reason) => reason === undefined || reason === 'zero_address' || reason === 'no_checksum',
  sameText: (text) => text.toLowerCase(),
  contracts: [
    // USDC on Polygon PoS: developers.circle.com, "USDC contract addresses".
    '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    // USDC.e, bridged from Ethereum: docs.polygon.technology and polygonscan.com, "USD Coin (PoS)".
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
  ],
};

/** EIP-55: a letter is a capital where the digit at its place in the hash of the lower case is 8 or more. */
function fitsChecksum(written: string): boolean {
  const hash = keccak_256(Buffer.from(written.toLowerCase(), 'latin1'));
  return [...written].every((digit, index) => {
    const byte = hash[index >> 1] ?? 0;
    const hashed = index % 2 === 0 ? byte >> 4 : byte & 15;
    return digit <= '9' || hashed >= 8 === digit <= 'F';
  });
}
