import { timingSafeEqual } from 'node:crypto';
import { hash } from './hash.ts';
import { hmacSha512 } from './hmac.ts';
import type { Encoding, SignatureScheme } from './signature-scheme.ts';

/** Bytes of a SHA-512 digest. */
const digestBytes = 64;

/** Filled and compared without a turn of the event loop between: one of each is enough. */
const expected = Buffer.alloc(digestBytes);
const claimed = Buffer.alloc(digestBytes);

/** The signature of a text (taken as UTF-8) with a key. */
export function writeSignature(scheme: SignatureScheme, key: string, text: string): string {
  const digest = Buffer.from(digestOf(scheme, key, text), 'latin1');
  return encode(scheme.encoding, digest);
}

/**
 * The bytes of a text that is exactly one digest in exactly this encoding, without any other case, alphabet, length
 * or padding; otherwise `undefined`. They are good until the next call.
 */
export function decodeDigest(encoding: Encoding, text: string): Uint8Array | undefined {
  if (text.length !== encodedLength[encoding]) return undefined;
  const inner = encoding === 'base64-hex' ? Buffer.from(text, 'base64').toString('latin1') : text;
  // Writing stops at the first character that is not hexadecimal, and passes over what is not base64.
  const written = claimed.write(inner, encoding.startsWith('base64') && inner === text ? 'base64' : 'hex');
  return written === digestBytes && encode(encoding, claimed) === text ? claimed : undefined;
}

/** Characters of a digest in each encoding. */
export const encodedLength = {
  hex: 128,
  'hex-upper': 128,
  base64: 88,
  base64url: 86,
  'base64-hex': 172,
} as const satisfies Record<Encoding, number>;

function encode(encoding: Encoding, digest: Buffer): string {
  switch (encoding) {
    case 'hex':
    case 'base64':
    case 'base64url':
      return digest.toString(encoding);
    case 'hex-upper':
      return digest.toString('hex').toUpperCase();
    case 'base64-hex':
      return Buffer.from(digest.toString('hex')).toString('base64');
  }
}

/** The index of the first key with which a text has this digest, -1 for none. Compares in constant time. */
export function findSigner(
  scheme: SignatureScheme,
  keys: readonly string[],
  { text, claim }: { text: string; claim: Uint8Array },
): number {
  return keys.findIndex((key) => {
    expected.write(digestOf(scheme, key, text), 'latin1');
    return timingSafeEqual(expected, claim);
  });
}

/** As Latin-1, a character a byte. */
function digestOf({ construction, separator = '' }: SignatureScheme, key: string, text: string): string {
  switch (construction) {
    case 'hmac':
      return hmacSha512(key, text);
    case 'hash-suffix':
      return sha512(text + separator + key);
    case 'hash-prefix':
      return sha512(key + separator + text);
    case 'hash-both':
      return sha512(key + separator + text + separator + key);
  }
}

function sha512(text: string): string {
  return hash('sha512', text, 'binary');
}
