import { createHash, timingSafeEqual } from 'node:crypto';
import type { Construction, Encoding, SignatureScheme } from '../deployment/signature-scheme.ts';
import { hmacSha512 } from './hmac.ts';

/** Bytes of a SHA-512 digest. */
const digestBytes = 64;

/** Filled and compared without a turn of the event loop between: one of each is enough. */
const expected = Buffer.alloc(digestBytes);
const claimed = Buffer.alloc(digestBytes);

/** The signature of a text (taken as UTF-8) with a key. */
export function writeSignature(scheme: SignatureScheme, key: string, text: string): string {
  const encoding = scheme.encoding === 'base64' ? 'base64' : 'hex';
  const signature = digest(scheme.construction, { key, text, encoding });
  return scheme.encoding === 'hex-upper' ? signature.toUpperCase() : signature;
}

/**
 * The bytes of a text that is exactly one digest in exactly this encoding, without any other case, alphabet, length
 * or padding; otherwise `undefined`. They are good until the next call.
 */
export function decodeDigest(encoding: Encoding, text: string): Uint8Array | undefined {
  if (encoding === 'base64') {
    if (text.length !== 88 || claimed.write(text, 'base64') !== digestBytes) return undefined;
    return claimed.toString('base64') === text ? claimed : undefined;
  }
  const cased = encoding === 'hex' ? text.toLowerCase() : text.toUpperCase();
  // Writing stops at the first character that is not hexadecimal.
  if (text.length !== 128 || cased !== text || claimed.write(text, 'hex') !== digestBytes) return undefined;
  return claimed;
}

/** The index of the first key with which a text has this digest, -1 for none. Compares in constant time. */
export function findSigner(
  construction: Construction,
  keys: readonly string[],
  { text, claim }: { text: string; claim: Uint8Array },
): number {
  return keys.findIndex((key) => {
    // By way of Latin-1, a byte a character: a digest as a Buffer of its own takes longer to make.
    expected.write(digest(construction, { key, text, encoding: 'binary' }), 'latin1');
    return timingSafeEqual(expected, claim);
  });
}

interface Digested {
  readonly key: string;
  readonly text: string;
  readonly encoding: 'hex' | 'base64' | 'binary';
}

function digest(construction: Construction, { key, text, encoding }: Digested): string {
  switch (construction) {
    case 'hmac':
      return hmacSha512(key, text, encoding);
    case 'hash-suffix':
      return createHash('sha512').update(text).update(key).digest(encoding);
    case 'hash-prefix':
      return createHash('sha512').update(key).update(text).digest(encoding);
  }
}
