import { decodeBase58, fitsDoubleHash } from './base58.ts';
import type { FormRules } from './form-rules.ts';

const addressBytes = 25;
const mainNetPrefix = 0x41;

/** Base58Check of 0x41 and the 20 bytes of the account (TRON's documentation: Accounts, "Account address format"). */
export const tron: FormRules = {
  examine(text) {
    // 25 bytes are at most 35 digits.
    const bytes = text.length > 35 ? undefined : decodeBase58(text);
    if (bytes?.length !== addressBytes) return 'form';
    if (!fitsDoubleHash(bytes)) return 'checksum';
    if (bytes[0] !== mainNetPrefix) return 'form';
    return bytes.subarray(1, -4).every((byte) => byte === 0) ? 'zero_address' : undefined;
  },
  isPossible: (reason) => reason === undefined || reason === 'zero_address',
  sameText: (text) => text,
  // github.com/bitlogik/uniblow, commit 8a49904, wallets/TRXtokens.py (Mainnet); USDT also tether.to, "Supported
  // protocols" (Tron).
  contracts: [
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', // USDT
    'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', // USDC
    'TPYmHEhy5n8TCEfYGqW2rPxsghSfzghPDn', // USDD
    'TUpMhErZL2fhh4sVNULAbNKLokS4GjC1F4', // TUSD
    'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR', // WTRX
    'TAFjULxiVgT4qWk6UZwjqwZXTSaGaqnVp4', // BTT
    'TCFLL5dx5ZJdKnWuesXxi1VPwjLVmWZZy9', // JST
    'TSSMHYeV2uE9qYH95DqyoCuNCzEL1NvU3S', // SUN
    'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7', // WIN
    'TFczxzPhnThNSqr5by8tvxsdCFRRz6cPNq', // NFT
  ],
};
