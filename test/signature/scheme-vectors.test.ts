import { describe, expect, it } from 'vitest';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { schemeParts } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import {
  ambiguousVectors,
  digestOf,
  encoded,
  flipped,
  type SchemeVector,
  schemeVectors,
  signatureIn,
  valueSerializations,
  vectorCredentials,
  withSignature,
} from '../proof/scheme-vectors.ts';
import { refusal } from '../support/refusal.ts';

const own = schemeVectors.filter((vector) => vector.own);
/** What these sign depends on the parsed value alone. */
const byValue = schemeVectors.filter(({ scheme }) => valueSerializations.includes(scheme.serialization));

/** How many different values a part takes. */
function count(part: (vector: SchemeVector) => unknown[], vectors = schemeVectors): number {
  return new Set(vectors.map((vector) => JSON.stringify(part(vector)))).size;
}

describe('the bodies signed by Python', () => {
  it('come in every construction, serialization and encoding, each with each', () => {
    const { construction, serialization, encoding } = schemeParts;
    const parts = ({ scheme }: SchemeVector) => [scheme.construction, scheme.serialization, scheme.encoding];
    expect(count(parts, [...schemeVectors, ...ambiguousVectors])).toBe(
      construction.length * serialization.length * encoding.length,
    );
  });

  it('come with every key for orders and five separators between its parts, each with each', () => {
    const keys = count(({ scheme }) => [scheme.orderKey ?? 'merchant+partner', scheme.keySeparator ?? '']);
    expect(keys).toBe(schemeParts.orderKey.length * 5);
  });

  it('come with six separators for every construction that takes one, and five joiners', () => {
    const hashed = schemeVectors.filter(({ scheme }) => scheme.construction !== 'hmac');
    const joined = schemeVectors.filter(({ scheme }) => scheme.serialization === 'values');
    expect(count(({ scheme }) => [scheme.construction, scheme.separator ?? ''], hashed)).toBe(2 * 6);
    expect(count(({ scheme }) => [scheme.serialization, scheme.joiner ?? ''], joined)).toBe(5);
  });

  it('say of each whether signBody posts it', () => {
    const mistaken = schemeVectors.filter((vector) => {
      const { signature, ...rest } = JSON.parse(vector.sent);
      const text = JSON.stringify(rest);
      const posted = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"signature":"${signature}"}`;
      return vector.own !== (posted === vector.sent);
    });
    expect(mistaken.map(({ name }) => name)).toEqual([]);
    expect(count(({ scheme }) => [scheme.construction, scheme.serialization], own)).toBe(3 * 13);
  });
});

describe('a body signed by Python', () => {
  it.each(schemeVectors)('verifies, and the signed text is told: $name', ({ scheme, key, sent, signed }) => {
    expect(verifyBody(sent, { key, scheme }).text).toBe(signed);
    expect(verifyBody(Buffer.from(sent), { key, scheme }).text).toBe(signed);
  });

  it.each(schemeVectors)('has the key that the scheme makes of the credentials: $name', ({ scheme, key }) => {
    expect(signingKey(vectorCredentials, 'order', { scheme })).toBe(key);
  });

  it.each(own)('is what signBody posts: $name', (vector) => {
    const { scheme, key, sent } = vector;
    const signature = signatureIn(vector);
    expect(signBody(JSON.parse(sent), { key, scheme })).toEqual({ text: sent, signature });
  });

  it.each(byValue)('has the signature that signBody makes of its value: $name', (vector) => {
    const { scheme, key, sent } = vector;
    expect(signBody(JSON.parse(sent), { key, scheme }).signature).toBe(signatureIn(vector));
  });

  it.each(schemeVectors)('is refused with one bit of the signature wrong: $name', (vector) => {
    const { scheme, key } = vector;
    const bit = schemeVectors.indexOf(vector) % 512;
    const wrong = encoded(flipped(digestOf(signatureIn(vector), scheme.encoding), bit), scheme.encoding);
    expect(refusal(() => verifyBody(withSignature(vector, wrong), { key, scheme }))).toBe(
      'SignatureError signature_mismatch',
    );
  });
});

describe('a body signed by Python with -0 or 1e999, under a scheme that signs the parsed value', () => {
  it('is there', () => {
    expect(new Set(ambiguousVectors.map(({ scheme }) => scheme.serialization)).size).toBe(4);
  });

  it.each(ambiguousVectors)('is refused: $name', ({ scheme, key, sent }) => {
    expect(refusal(() => verifyBody(sent, { key, scheme }))).toBe('SignatureError body_ambiguous');
  });
});
