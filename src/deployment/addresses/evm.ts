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
  // On Polygon PoS: github.com/Uniswap/default-token-list, commit 04cc373, the list of Polygon; the first is of
  // developers.circle.com, "USDC contract addresses".
  contracts: [
    '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', // USDC
    '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', // USDC.e
    '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', // USDT
    '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', // DAI
    '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', // WETH
    '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', // WMATIC
    '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6', // WBTC
    '0x53E0bca35eC356BD5ddDFebbD1Fc0fD03FaBad39', // LINK
    '0xD6DF932A45C0f255f85145f286eA0b292B21C90B', // AAVE
    '0xb33EaAd8d922B1083446DC23f610c2567fB5180f', // UNI
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
