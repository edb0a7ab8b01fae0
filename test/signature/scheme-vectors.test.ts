import { describe, expect, it } from 'vitest';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { schemeParts } from '../../src/deployment/signature-scheme.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { refusal } from '../errors/refusal.ts';
import {
  digestOf,
  encoded,
  flipped,
  schemeVectors,
  signatureIn,
  vectorCredentials,
  withSignature,
} from './proof/scheme-vectors.ts';

/** What these sign depends on the parsed value alone, not on how its sender wrote it. */
const byValue = ['compact', 'sorted', 'sorted-shallow', 'base64-compact', 'base64-sorted'];

describe('the bodies signed by Python', () => {
  it('come in every construction, serialization and encoding, each with each', () => {
    const present = new Set(
      schemeVectors.map(({ scheme }) =>
        [scheme.construction, scheme.serialization, scheme.encoding].join(' '),
      ),
    );
    expect(present.size).toBe(
      schemeParts.construction.length * schemeParts.serialization.length * schemeParts.encoding.length,
    );
  });

  it('come with every key for orders, and with every separator', () => {
    const orderKeys = new Set(
      schemeVectors.map(({ scheme: { orderKey = 'merchant+partner', keySeparator = '' } }) =>
        [orderKey, keySeparator].join(' '),
      ),
    );
    const separators = new Set(
      schemeVectors.map(({ scheme: { construction, separator = '' } }) =>
        [construction, separator].join(' '),
      ),
    );
    const joiners = new Set(
      schemeVectors
        .filter(({ scheme }) => scheme.serialization.startsWith('values'))
        .map(({ scheme: { serialization, joiner = '' } }) => [serialization, joiner].join(' ')),
    );
    expect([orderKeys.size, separators.size, joiners.size]).toEqual([5 * 5, 3 * 6 + 1, 2 * 5]);
  });

  it('say of each whether signBody posts it', () => {
    const mistaken = schemeVectors.filter((vector) => {
      const { signature, ...rest } = JSON.parse(vector.sent);
      const text = JSON.stringify(rest);
      const posted = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"signature":"${signature}"}`;
      return vector.own !== (posted === vector.sent);
    });
    expect(mistaken.map(({ name }) => name)).toEqual([]);
    expect(schemeVectors.filter(({ own }) => own).length).toBeGreaterThan(80);
  });
});

describe.each(schemeVectors)('a body signed by Python: $name', (vector) => {
  const { scheme, key, sent, signed, own } = vector;
  const signature = signatureIn(vector);

  it('verifies, and the signed text is told', () => {
    expect(verifyBody(sent, { key, scheme }).text).toBe(signed);
    expect(verifyBody(Buffer.from(sent), { key, scheme }).text).toBe(signed);
  });

  it('has the key that the scheme makes of the credentials', () => {
    expect(signingKey(vectorCredentials, 'order', { scheme })).toBe(key);
  });

  it.runIf(own)('is what signBody posts', () => {
    expect(signBody(JSON.parse(sent), { key, scheme })).toEqual({ text: sent, signature });
  });

  // A number beyond doubles has no JSON value to sign.
  it.runIf(byValue.includes(scheme.serialization) && !sent.includes('1e999'))(
    'has the signature that signBody makes of its value',
    () => {
      expect(signBody(JSON.parse(sent), { key, scheme }).signature).toBe(signature);
    },
  );

  it('is refused with one bit of the signature wrong', () => {
    const bit = schemeVectors.indexOf(vector) % 512;
    const wrong = encoded(flipped(digestOf(signature, scheme.encoding), bit), scheme.encoding);
    expect(refusal(() => verifyBody(withSignature(vector, wrong), { key, scheme }))).toBe(
      'SignatureError signature_mismatch',
    );
  });
});
