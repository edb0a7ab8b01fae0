import { hash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import published from '../../vectors/addresses.json' with { type: 'json' };

const { tron, evm, mobilecoin } = published;

/** The first is USDT. */
export const { bestKnown: tronTokens } = tron;
export const { bestKnown: polygonTokens } = evm;
export const [tether = ''] = tronTokens;
/** Contracts that are none of the best-known: proven addresses. */
export const tronContracts = tron.lists.flatMap(({ contracts }) => contracts);
export const { oneCase } = evm;
export const mixedCase = [...evm.mixedCase, ...evm.contracts];
export const mobilecoinAddresses = mobilecoin.addresses;

const base58 = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'];

/** Twenty proven addresses of each form, with the characters of its alphabet. */
export const forms = [
  { chain: 'usdt-trc20', form: 'tron', addresses: tronContracts.slice(0, 20), alphabet: base58 },
  {
    chain: 'usdc-matic',
    form: 'evm',
    addresses: mixedCase.slice(0, 20),
    alphabet: [...'0123456789abcdefABCDEF'],
  },
  { chain: 'eusd-mob', form: 'mobilecoin', addresses: mobilecoinAddresses, alphabet: base58 },
] as const;

/** A MobileCoin text that wraps one field: CRC-32 and base58, written without the code under test. */
export function wrapped(number: number, content: Uint8Array): string {
  const message = field(number, content);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crcOf(message));
  return base58Text(Buffer.concat([checksum, message]));
}

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The address of an account on TRON, written without the code under test. */
export function tronText(account: Uint8Array): string {
  const payload = Buffer.concat([Buffer.from([0x41]), account]);
  const checksum = hash('sha256', hash('sha256', payload, 'buffer'), 'buffer').subarray(0, 4);
  return base58Text(Buffer.concat([payload, checksum]));
}

/** EIP-55, written without the code under test: its own vectors are in addresses.json. */
export function inMixedCase(lower: string): string {
  const hashed = Buffer.from(keccak_256(Buffer.from(lower))).toString('hex');
  return [...lower].map((digit, at) => ((hashed[at] ?? '') > '7' ? digit.toUpperCase() : digit)).join('');
}

/** A `PublicAddress` of MobileCoin with two keys and the URL of a fog server. */
export function publicAddress(keys: Uint8Array, url: string): Uint8Array {
  const key = (start: number) => field(1, keys.subarray(start, start + 32));
  return Buffer.concat([field(1, key(0)), field(2, key(32)), field(3, Buffer.from(url))]);
}

function field(number: number, content: Uint8Array): Buffer {
  const { length } = content;
  const varint = length < 128 ? [length] : [(length % 128) + 128, Math.floor(length / 128)];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint]), content]);
}

function base58Text(bytes: Uint8Array): string {
  let text = '';
  for (let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); value > 0n; value /= 58n)
    text = base58[Number(value % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros) + text;
}
