import { createHash, createHmac } from 'node:crypto';
import { schemeParts } from '../../src/signature/signature-scheme.ts';
import {
  digestOf,
  encoded,
  flipped,
  type SchemeVector,
  schemeVectors,
  signatureIn,
} from './scheme-vectors.ts';

/** A rightly signed body with what a forger may know or guess. */
export interface Target {
  readonly vector: SchemeVector;
  readonly right: string;
  readonly digest: Buffer;
}

/** A family of forged signatures: `make` gives the JSON of the one with an index, not always a different one. */
export interface Forger {
  readonly name: string;
  readonly count: (target: Target) => number;
  readonly make: (target: Target, index: number) => string;
}

export const targets: readonly Target[] = schemeVectors.map((vector) => {
  const right = signatureIn(vector);
  return { vector, right, digest: digestOf(right, vector.scheme.encoding) };
});

const text = (signature: string) => JSON.stringify(signature);
const inEncoding = ({ vector }: Target, bytes: Buffer) => text(encoded(bytes, vector.scheme.encoding));
const replaced = (right: string, at: number, by: string) => right.slice(0, at) + by + right.slice(at + 1);
const signatureLength = ({ right }: Target) => right.length;

/** Everything that is made of a right signature by changing it, of another right one, or of nothing. */
export const forgers: readonly Forger[] = [
  {
    name: 'every bit of the digest flipped',
    count: () => 512,
    make: (target, bit) => inEncoding(target, flipped(target.digest, bit)),
  },
  {
    name: 'every bit of every character flipped',
    count: (target) => target.right.length * 8,
    make: ({ right }, bit) => {
      const unit = right.charCodeAt(bit >> 3) ^ (1 << (bit & 7));
      return text(replaced(right, bit >> 3, String.fromCharCode(unit)));
    },
  },
  {
    name: 'every character in the other case',
    count: signatureLength,
    make: ({ right }, at) => {
      const character = right.charAt(at);
      const lower = character.toLowerCase();
      return text(replaced(right, at, character === lower ? character.toUpperCase() : lower));
    },
  },
  {
    name: 'characters whose low byte is right',
    count: signatureLength,
    make: ({ right }, at) =>
      text(replaced(right, at, String.fromCharCode(right.charCodeAt(at) + 0x100 * (1 + (at % 254))))),
  },
  {
    name: 'one byte repeated',
    count: () => 256,
    make: (target, byte) => inEncoding(target, Buffer.alloc(64, byte)),
  },
  {
    name: 'a part of the digest repeated',
    count: () => 63,
    make: (target, length) => inEncoding(target, Buffer.alloc(64, target.digest.subarray(0, length + 1))),
  },
  {
    name: 'a digest of another length',
    count: () => 129,
    make: (target, length) =>
      inEncoding(target, Buffer.concat([target.digest, target.digest, target.digest]).subarray(0, length)),
  },
  {
    name: 'the text cut off',
    count: signatureLength,
    make: ({ right }, length) => text(right.slice(0, length)),
  },
  {
    name: 'more around the text',
    count: () => around.length,
    make: ({ right }, index) => text((around[index] ?? 'x$').replace('$', () => right)),
  },
  {
    name: 'the digest in another writing',
    count: () => writings.length,
    make: ({ digest, right }, index) => text(writings[index]?.(digest, right) ?? ''),
  },
  {
    name: 'the right signature of another body or key',
    count: () => targets.length,
    make: (target, index) => inEncoding(target, targets[index]?.digest ?? Buffer.alloc(64)),
  },
  {
    name: 'another digest of the same text',
    count: () => digests.length,
    make: (target, index) => inEncoding(target, digests[index]?.(target.vector) ?? Buffer.alloc(64)),
  },
  {
    name: 'not a text',
    count: () => 9,
    make: ({ right }, index) =>
      [
        `["${right}"]`,
        `{"value":"${right}"}`,
        `{"toString":"${right}"}`,
        `{"length":${right.length}}`,
        ...['null', 'true', '0', '1e128', '[]'],
      ][index] ?? 'null',
  },
];

const around =
  ' $|$ |\n$|$\n|$\r\n|$\0|\ufeff$|$\u00a0|$$|"$"|0x$|0$|$0|sha512=$|v1=$|$=|$==|=$|$,|$,$|$ $|$%00|[$]|Bearer $'.split(
    '|',
  );

const writings: readonly ((digest: Buffer, right: string) => string)[] = [
  ...schemeParts.encoding.map((encoding) => (digest: Buffer) => encoded(digest, encoding)),
  (_, right) => right.toUpperCase(),
  (_, right) => right.toLowerCase(),
  (_, right) => right.slice(0, right.length >> 1) + right.slice(right.length >> 1).toUpperCase(),
  (_, right) => right.replaceAll('=', ''),
  (_, right) => right.replace('=', ''),
  (_, right) => right.replaceAll('+', '-').replaceAll('/', '_'),
  (_, right) => right.replaceAll(/(.{2})(?=.)/g, '$1:'),
  (_, right) => right.replaceAll(/(.{76})/g, '$1\r\n'),
  (_, right) => Buffer.from(right).toString('hex'),
  (_, right) => Buffer.from(right).toString('base64'),
  (_, right) => encodeURIComponent(right),
  (digest) => digest.toString('latin1'),
  (digest) => BigInt(`0x${digest.toString('hex')}`).toString(16),
  (digest) => Buffer.from(digest.toString('hex').toUpperCase()).toString('base64'),
  // The bits of the last character that stand for nothing.
  ...['B', 'R', 'h', 'x', 'C', 'E', 'I'].map(
    (letter) => (_: Buffer, right: string) => right.replace(/.(=*)$/, `${letter}$1`),
  ),
];

const sha = (algorithm: string, ...parts: string[]) => createHash(algorithm).update(parts.join('')).digest();
const hmac = (key: string | Buffer, body: string) => createHmac('sha512', key).update(body).digest();

const digests: readonly ((vector: SchemeVector) => Buffer)[] = [
  ({ key, signed }) => hmac(key, signed),
  ({ key, signed }) => sha('sha512', signed, key),
  ({ key, signed }) => sha('sha512', key, signed),
  ({ signed }) => sha('sha512', signed),
  ({ sent }) => sha('sha512', sent),
  ({ key }) => hmac(key, ''),
  ({ signed }) => hmac('', signed),
  ({ key, sent }) => hmac(key, sent),
  ({ key, signed }) => hmac(signed, key),
  ({ key, signed }) => hmac(`${key}\n`, signed),
  ({ key, signed }) => hmac(key.slice(1), signed),
  ({ key, signed }) => hmac(sha('sha512', key), signed),
  ({ key, signed }) => hmac(key, `${signed}\n`),
  ({ key, signed }) => hmac(key, `\ufeff${signed}`),
  ({ key, signed }) => hmac(key, JSON.stringify(signed)),
  ({ key, signed }) => sha('sha512', signed, ' ', key),
  ({ key, signed }) => sha('sha3-512', signed, key),
  ({ key, signed }) => Buffer.concat([sha('sha256', signed, key), sha('sha256', key, signed)]),
];
