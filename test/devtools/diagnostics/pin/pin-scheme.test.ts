import { describe, expect, it } from 'vitest';
import { checkPin, type PinOptions, pinScheme } from '../../../../src/devtools/diagnostics/pin/pin-scheme.ts';
import type { SignatureScheme } from '../../../../src/signature/signature-scheme.ts';
import { refusal, thrownBy } from '../../../support/refusal.ts';
import { orderKey, secrets, signedUnder } from '../support.ts';

const scheme: SignatureScheme = {
  construction: 'hash-suffix',
  serialization: 'php',
  encoding: 'base64',
  separator: '|',
};
const sample = signedUnder(scheme);
const drifted = signedUnder({ ...scheme, serialization: 'compact' });
const pin = pinScheme({ scheme, samples: sample, credentials: secrets });

describe('a pin', () => {
  it('holds the scheme, and the body, the digest of the key and the signature of each sample', () => {
    expect(pin).toEqual({
      scheme,
      fixtures: [
        {
          body: sample,
          keyDigest: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
          signature: JSON.parse(sample).signature,
        },
      ],
    });
  });

  it('holds no key', () => {
    const text = JSON.stringify(pin);
    for (const secret of Object.values(secrets)) expect(text).not.toContain(secret.slice(-8));
  });

  it('tells keys apart by their digests', () => {
    const general = signedUnder(scheme, { purpose: 'general' });
    const { fixtures } = pinScheme({ scheme, samples: [sample, general], credentials: secrets });
    expect(new Set(fixtures.map(({ keyDigest }) => keyDigest)).size).toBe(2);
  });

  it('is made of bytes as well', () => {
    expect(pinScheme({ scheme, samples: new TextEncoder().encode(sample), key: orderKey })).toEqual(pin);
  });

  it('names the scheme in its shortest form', () => {
    const long = { ...scheme, joiner: '', orderKey: 'merchant+partner', keySeparator: '' } as const;
    expect(pinScheme({ scheme: long, samples: sample, key: orderKey }).scheme).toEqual(scheme);
  });

  it('cannot be made of a sample that does not verify, which is named', () => {
    const error = thrownBy(() => pinScheme({ scheme, samples: [sample, drifted], key: orderKey }));
    expect(error).toMatchObject({ name: 'SignatureError', code: 'signature_mismatch' });
    expect(error).toHaveProperty('message', expect.stringMatching(/^Sample 1: /));
  });

  it.each([
    ['no samples', { scheme, samples: [], key: orderKey }, 'invalid_option'],
    ['no key', { scheme, samples: sample }, 'invalid_credentials'],
    [
      'both kinds of keys',
      { scheme, samples: sample, key: orderKey, credentials: secrets },
      'invalid_credentials',
    ],
    ['an empty key', { scheme, samples: sample, key: '' }, 'invalid_credentials'],
    [
      'a scheme that does not exist',
      { scheme: { ...scheme, encoding: 'x' }, samples: sample, key: orderKey },
      'invalid_scheme',
    ],
    ['a parsed sample', { scheme, samples: [JSON.parse(sample)], key: orderKey }, 'raw_body_required'],
  ])('cannot be made of %s', (_, options, code) => {
    expect(refusal(() => pinScheme(options as PinOptions))).toBe(`ConfigurationError ${code}`);
  });
});

describe('checking a pin', () => {
  it.each([
    ['the key', { key: orderKey }],
    ['one of several keys', { key: ['sk_other', orderKey] }],
    ['credentials', { credentials: secrets }],
    ['several credentials', { credentials: [{ ...secrets, merchantSecretKey: 'sk_merchant_new' }, secrets] }],
  ])('passes with %s, and gives the scheme', (_, keys) => {
    const read: unknown = JSON.parse(JSON.stringify(pin));
    expect(read).toEqual(pin);
    expect(checkPin(read, keys)).toEqual({ scheme, fixtures: 1, samples: 0 });
  });

  it('passes for a general request without a merchant', () => {
    const { merchantSecretKey: _, ...credentials } = secrets;
    const general = pinScheme({ scheme, samples: signedUnder(scheme, { purpose: 'general' }), credentials });
    expect(checkPin(general, { credentials }).fixtures).toBe(1);
  });

  it('passes for every way in which a key is made', () => {
    for (const orderKey of ['partner+merchant', 'merchant', 'partner', 'public+partner'] as const) {
      const other = { ...scheme, orderKey } as const;
      const made = pinScheme({ scheme: other, samples: signedUnder(other), credentials: secrets });
      expect(checkPin(made, { credentials: secrets }).scheme).toEqual(other);
    }
  });

  it('passes for further samples that fit', () => {
    expect(checkPin(pin, { credentials: secrets, samples: [sample, sample] }).samples).toBe(2);
  });

  it('fails for a sample of a sender whose serializer has drifted', () => {
    const error = thrownBy(() => checkPin(pin, { credentials: secrets, samples: [sample, drifted] }));
    expect(error).toMatchObject({ name: 'SignatureError', code: 'signature_mismatch' });
    expect(error).toHaveProperty('message', expect.stringMatching(/^Sample 1: .*explainMismatch/));
  });

  it.each([
    ['a changed body', { body: sample.replace('A-1001', 'A-1002') }, 'SignatureError signature_mismatch'],
    ['a body without signature', { body: '{}' }, 'SignatureError signature_missing'],
    ['a body that is not JSON', { body: '{' }, 'SignatureError body_not_json'],
    ['another signature', { signature: 'x' }, 'ConfigurationError invalid_option'],
    ['another key', { keyDigest: `sha256:${'0'.repeat(16)}` }, 'ConfigurationError invalid_credentials'],
  ])('fails for a fixture with %s, and names it', (_, change, expected) => {
    const changed = { ...pin, fixtures: [pin.fixtures[0], { ...pin.fixtures[0], ...change }] };
    const act = () => checkPin(changed, { key: orderKey });
    expect(refusal(act)).toBe(expected);
    expect(thrownBy(act)).toHaveProperty('message', expect.stringMatching(/^Fixture 1 of the pin/));
  });

  it('fails for another scheme', () => {
    const changed = { ...pin, scheme: { ...scheme, separator: ':' } };
    expect(refusal(() => checkPin(changed, { key: orderKey }))).toBe('SignatureError signature_mismatch');
  });

  it.each([
    ['nothing', undefined],
    ['a text', JSON.stringify(pin)],
    ['a list', [pin]],
    ['no scheme', { fixtures: pin.fixtures }],
    ['a scheme of text', { ...pin, scheme: 'hmac' }],
    ['a misspelled part', { ...pin, scheme: { ...scheme, seperator: ':' } }],
    ['no fixtures', { scheme }],
    ['an empty list of fixtures', { scheme, fixtures: [] }],
    ['a fixture of text', { scheme, fixtures: ['x'] }],
    ['a fixture without body', { scheme, fixtures: [{ ...pin.fixtures[0], body: undefined }] }],
    ['a body that is parsed', { scheme, fixtures: [{ ...pin.fixtures[0], body: {} }] }],
    ['a signature of a number', { scheme, fixtures: [{ ...pin.fixtures[0], signature: 7 }] }],
    ['a key in place of its digest', { scheme, fixtures: [{ ...pin.fixtures[0], keyDigest: orderKey }] }],
    ['a digest of another length', { scheme, fixtures: [{ ...pin.fixtures[0], keyDigest: 'sha256:00' }] }],
  ])('refuses a file with %s', (_, file) => {
    const act = () => checkPin(file, { key: orderKey });
    expect(refusal(act)).toBe('ConfigurationError invalid_option');
    expect(String(thrownBy(act))).not.toContain(orderKey);
  });

  it.each([
    ['an unknown construction', { construction: 'md5' }],
    ['a part of another type', { separator: 7 }],
    ['no encoding', { encoding: undefined }],
  ])('refuses a file with a scheme of %s', (_, change) => {
    const file = { ...pin, scheme: { ...scheme, ...change } };
    expect(refusal(() => checkPin(file, { key: orderKey }))).toBe('ConfigurationError invalid_scheme');
  });
});
