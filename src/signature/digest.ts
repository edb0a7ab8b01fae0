import { createHmac, timingSafeEqual } from 'node:crypto';
import { hash } from '../internal/hash.ts';
import type { Encoding, SignatureScheme } from './signature-scheme.ts';

const digestBytes = 64;

export function writeSignature(scheme: SignatureScheme, key: string, text: string): string {
  return encode(scheme.encoding, digestOf(scheme, key, text));
}

/** `undefined` unless the text is exactly one digest in exactly this encoding. */
export function decodeDigest(encoding: Encoding, text: string): Buffer | undefined {
  const digest = decode(encoding, text);
  // Buffer decodes leniently, so the result is encoded again and compared.
  return digest.length === digestBytes && encode(encoding, digest) === text ? digest : undefined;
}

/** Compares in constant time. */
export function isSignedWith(
  scheme: SignatureScheme,
  key: string,
  { text, claimedDigest }: { text: string; claimedDigest: Uint8Array },
): boolean {
  return timingSafeEqual(digestOf(scheme, key, text), claimedDigest);
}

/** Goes through Latin-1 text: a Buffer made by the digest itself costs twice as much. */
function digestOf({ construction, separator = '' }: SignatureScheme, key: string, text: string): Buffer {
  return Buffer.from(writtenDigest(), 'latin1');

  function writtenDigest(): string {
    switch (construction) {
      case 'hmac':
        return createHmac('sha512', key).update(text).digest('binary');
      case 'hash-suffix':
        return hash('sha512', text + separator + key, 'binary');
      case 'hash-prefix':
        return hash('sha512', key + separator + text, 'binary');
    }
  }
}

function encode(encoding: Encoding, digest: Buffer): string {
  switch (encoding) {
    case 'hex':
    case 'base64':
      return digest.toString(encoding);
    case 'hex-upper':
      return digest.toString('hex').toUpperCase();
    case 'base64-hex':
      return Buffer.from(digest.toString('hex')).toString('base64');
  }
}

function decode(encoding: Encoding, text: string): Buffer {
  switch (encoding) {
    case 'hex':
    case 'hex-upper':
      return Buffer.from(text, 'hex');
    case 'base64':
      return Buffer.from(text, 'base64');
    case 'base64-hex':
      return Buffer.from(Buffer.from(text, 'base64').toString('latin1'), 'hex');
  }
}
