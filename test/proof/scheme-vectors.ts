import { readFileSync } from 'node:fs';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import type { Encoding, SignatureScheme } from '../../src/signature/signature-scheme.ts';

/** A body that Python has signed: see `test/vectors/make-schemes.py`. */
export interface SchemeVector {
  readonly name: string;
  readonly scheme: SignatureScheme;
  /** The key for orders, as the scheme makes it of the credentials. */
  readonly key: string;
  /** The rightly signed body. */
  readonly sent: string;
  /** What was signed. */
  readonly signed: string;
  /** Whether `signBody` posts this very text. */
  readonly own: boolean;
}

/** The serializations that sign the parsed value instead of a text. */
export const valueSerializations: readonly string[] = [
  'compact',
  'sorted',
  'base64-compact',
  'base64-sorted',
];

const file: { credentials: PartnerCredentials; vectors: SchemeVector[] } = JSON.parse(
  readFileSync(new URL('../vectors/schemes.json', import.meta.url), 'utf8'),
);

export const vectorCredentials = file.credentials;
/** All but {@link ambiguousVectors}. */
export const schemeVectors: readonly SchemeVector[] = file.vectors.filter((vector) => !isAmbiguous(vector));
/** Those that have to be refused although they are rightly signed: under their scheme another value signs alike. */
export const ambiguousVectors: readonly SchemeVector[] = file.vectors.filter(isAmbiguous);

/** Whether a parsed value holds a number that JSON.stringify writes as another value. */
export function hasUnwritableNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Object.is(JSON.parse(JSON.stringify(value)), value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnwritableNumber);
}

function isAmbiguous({ scheme, sent }: SchemeVector): boolean {
  return valueSerializations.includes(scheme.serialization) && hasUnwritableNumber(JSON.parse(sent));
}

/** The right signature of a vector. */
export function signatureIn({ sent }: SchemeVector): string {
  return JSON.parse(sent).signature;
}

/** The body of a vector with another signature, which may need escapes. */
export function withSignature(vector: SchemeVector, signature: string): string {
  return vector.sent.replace(`"${signatureIn(vector)}"`, () => JSON.stringify(signature));
}

/** The bytes that a well-formed signature stands for. */
export function digestOf(signature: string, encoding: Encoding): Buffer {
  if (encoding === 'hex' || encoding === 'hex-upper') return Buffer.from(signature, 'hex');
  const decoded = Buffer.from(signature, 'base64');
  return encoding === 'base64-hex' ? Buffer.from(decoded.toString('latin1'), 'hex') : decoded;
}

/** Digest bytes in an encoding; written apart from the code under test, also for more or fewer bytes than 64. */
export function encoded(digest: Buffer, encoding: Encoding): string {
  const hex = digest.toString('hex');
  switch (encoding) {
    case 'hex':
      return hex;
    case 'hex-upper':
      return hex.replaceAll(/[a-f]/g, (letter) => letter.toUpperCase());
    case 'base64':
      return digest.toString('base64');
    case 'base64-hex':
      return Buffer.from(hex, 'latin1').toString('base64');
  }
}

/** A copy with one bit the other way round. */
export function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
