import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { signBody } from '../../src/signature/sign-body.ts';
import type { SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hasUnwritableNumber } from '../proof/scheme-vectors.ts';
import { thrownBy } from '../support/refusal.ts';

interface Vector {
  name: string;
  scheme: SignatureScheme;
  sentText: string;
  signedText: string;
  signature: string;
}
interface PublishedVector extends Vector {
  merchantSecretKey: string;
  partnerSecretKey: string;
  purpose: 'order' | 'general';
  expect: 'valid' | 'invalid';
}

const published: { vectors: PublishedVector[] } = read('signatures.json');
const python: { key: string; vectors: Vector[] } = read('compact-sorted.json');

function read<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(`../vectors/${file}`, import.meta.url), 'utf8'));
}

function keyOf({ purpose, merchantSecretKey, partnerSecretKey }: PublishedVector): string {
  return purpose === 'order' ? merchantSecretKey + partnerSecretKey : partnerSecretKey;
}

describe('a body signed by another implementation', () => {
  const valid = published.vectors.filter((vector) => vector.expect === 'valid');

  it.each(valid)('verifies as text and as bytes, and the signed text is told: $name', (vector) => {
    const options = { key: keyOf(vector), scheme: vector.scheme };
    expect(verifyBody(vector.sentText, options).text).toBe(vector.signedText);
    expect(verifyBody(Buffer.from(vector.sentText), options).text).toBe(vector.signedText);
  });
});

describe('a body forged by another implementation', () => {
  const invalid = published.vectors.filter((vector) => vector.expect === 'invalid');

  it.each(invalid)('is refused: $name', (vector) => {
    const error = thrownBy(() => verifyBody(vector.sentText, { key: keyOf(vector), scheme: vector.scheme }));
    expect(error).toHaveProperty('name', 'SignatureError');
  });

  it('is among the vectors as often as a valid one', () => {
    expect(invalid).toHaveLength(150);
    expect(published.vectors).toHaveLength(300);
  });
});

describe('a body signed by Python', () => {
  it('comes in every scheme', () => {
    const schemes = new Set(python.vectors.map(({ scheme }) => Object.values(scheme).join(' ')));
    expect(schemes.size).toBe(27);
  });

  const isAmbiguous = ({ scheme, sentText }: Vector) =>
    scheme.serialization !== 'as-sent' && hasUnwritableNumber(JSON.parse(sentText));

  it.each(python.vectors.filter(isAmbiguous))(
    'is refused for -0, which signs as 0: $name',
    ({ sentText, scheme }) => {
      expect(thrownBy(() => verifyBody(sentText, { key: python.key, scheme }))).toHaveProperty(
        'code',
        'body_ambiguous',
      );
    },
  );

  it.each(python.vectors.filter((vector) => !isAmbiguous(vector)))(
    'verifies: $name',
    ({ sentText, signedText, scheme }) => {
      expect(verifyBody(sentText, { key: python.key, scheme }).text).toBe(signedText);
    },
  );

  // Under as-sent the other implementation's spacing and number spelling are part of what it signed.
  const written = python.vectors.filter(
    ({ scheme, signedText }) =>
      scheme.serialization !== 'as-sent' || JSON.stringify(JSON.parse(signedText)) === signedText,
  );

  it.each(written)('has the signature that signBody makes: $name', ({ signedText, scheme, signature }) => {
    expect(signBody(JSON.parse(signedText), { key: python.key, scheme }).signature).toBe(signature);
  });
});
