import { createHash, createHmac } from 'node:crypto';
import type { Construction, Encoding } from '../deployment/signature-scheme.ts';
import { ConfigurationError } from '../errors/configuration-error.ts';

/** Bytes of a SHA-512 digest. */
const digestBytes = 64;

/** The 64 digest bytes of a text (taken as UTF-8) and a key, under a construction. */
export function computeDigest(construction: Construction, key: string, text: string): Buffer {
  if (typeof key !== 'string' || key === '') {
    throw new ConfigurationError('invalid_credentials', 'The signing key is missing or empty.');
  }
  switch (construction) {
    case 'hmac':
      return createHmac('sha512', key).update(text).digest();
    case 'hash-suffix':
      return createHash('sha512').update(text).update(key).digest();
    case 'hash-prefix':
      return createHash('sha512').update(key).update(text).digest();
  }
}

export function encodeDigest(encoding: Encoding, digest: Buffer): string {
  if (encoding === 'base64') return digest.toString('base64');
  const hex = digest.toString('hex');
  return encoding === 'hex-upper' ? hex.toUpperCase() : hex;
}

/** The digest bytes, or `undefined` for text that is not exactly one digest in exactly this encoding. */
export function decodeDigest(encoding: Encoding, text: string): Buffer | undefined {
  if (text.length !== (encoding === 'base64' ? 88 : 128)) return undefined;
  const digest = Buffer.from(text, encoding === 'base64' ? 'base64' : 'hex');
  // Buffer skips what it does not know; writing the bytes again shows any other case, alphabet or padding.
  return digest.length === digestBytes && encodeDigest(encoding, digest) === text ? digest : undefined;
}
