import { keccak_256 } from '@noble/hashes/sha3.js';
import type { FormRules } from './form-rules.ts';

/** 20 bytes in hexadecimal. The case of its letters is a checksum (EIP-55), unless all are in one case. */
export const evm: FormRules = {
  examine(text) {
    if (!/^0x[0-9a-f]{40}$/i.test(text) || text[1] !== 'x') return 'form';
    const written = text.slice(2);
    if (/^0+$/.test(written)) return 'zero_address';
    const lower = written.toLowerCase();
    if (written === lower || written === written.toUpperCase()) return 'no_checksum';
    return written === withChecksum(lower) ? undefined : 'checksum';
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

/** EIP-55: a letter is a capital where the digit at its place in the hash is 8 or more. */
function withChecksum(lower: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(lower, 'latin1'))).toString('hex');
  let text = '';
  for (let index = 0; index < lower.length; index++) {
    const digit = lower.charAt(index);
    text += hash.charAt(index) >= '8' ? digit.toUpperCase() : digit;
  }
  return text;
}
