import { decodeBase58, fitsDoubleHash } from './base58.ts';
import { longestAddress } from './form-rules.ts';
import { wrapsSecret } from './mobilecoin.ts';

/**
 * Whether a text is, or contains, what gives its reader somebody's crypto: a mnemonic, a private key, or a payload with
 * a key. Its shape decides, so this also holds for a chain whose addresses look like a key.
 */
export function isSecret(text: string): boolean {
  // Nearly every address is one part, which holds no words: looking for them takes longer than all else.
  if (/^[0-9a-z]*$/i.test(text)) return isPrivateKey(text);
  if (isMnemonic(text)) return true;
  // The parts together find a key that is broken into lines or groups.
  let whole = '';
  for (const [part] of text.matchAll(parts)) {
    if (isPrivateKey(part)) return true;
    if (whole.length <= longestAddress) whole += part;
  }
  return isPrivateKey(whole);
}

/** Whether a text has at least the twelve words of the shortest mnemonic, however they are separated. */
function isMnemonic(text: string): boolean {
  let count = 0;
  for (const _ of text.matchAll(words)) if (++count === fewestWords) return true;
  return false;
}

/** BIP-39. */
const fewestWords = 12;
/** Letters with at most a number before or behind them. In Chinese each character is a word. */
const words = /\p{sc=Han}|(?<![\p{L}\p{M}])[\p{L}\p{M}]{2,}(?!\p{N}*[\p{L}\p{M}])/gu;

function isPrivateKey(part: string): boolean {
  return isHexadecimalKey(part) || isBase58Key(part);
}

/** One or two keys of 32 bytes. Some chains that have no form here have addresses that look the same. */
export function isHexadecimalKey(text: string): boolean {
  return /^(?:0x)?(?:[0-9a-f]{64}){1,2}$/i.test(text);
}

const parts = /[\p{L}\p{N}]+/gu;

/** Digits of 32 bytes, a checksum of four, and at least one more. */
const shortestBase58Key = 50;

/** A payload of MobileCoin, a wallet import format, or a private extended key (BIP-32). */
function isBase58Key(part: string): boolean {
  const isPossible = part.length >= shortestBase58Key && part.length <= longestAddress;
  const bytes = isPossible ? decodeBase58(part) : undefined;
  if (bytes === undefined) return false;
  if (wrapsSecret(bytes)) return true;
  const isPrivateExtended = bytes.length === 82 && bytes[45] === 0;
  return (isPrivateExtended || bytes.length === 37 || bytes.length === 38) && fitsDoubleHash(bytes);
}
