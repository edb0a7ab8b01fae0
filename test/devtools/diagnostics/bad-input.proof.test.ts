import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fittingSchemes } from '../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { explainMismatch } from '../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { codePoint } from '../../support/any-text.ts';
import { times } from '../../support/repeat.ts';
import { eventText, secrets, signedUnder, withSignature } from './support.ts';

const hmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
/** With one secret the search is short. */
const ofPartner = { ...hmac, orderKey: 'partner' } as const;
const sample = signedUnder(hmac);
const hex = 'ab'.repeat(64);

const unusable: [name: string, body: unknown, status: string, words: string][] = [
  ['empty', '', 'not-json', 'Not JSON'],
  ['not JSON', '{"a":1', 'not-json', 'Not JSON'],
  ['behind two byte order marks', `\uFEFF\uFEFF${sample}`, 'not-json', 'Not JSON'],
  ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'not-utf8', 'UTF-8'],
  ['half a surrogate pair', '{"a":"\uD83D"}', 'not-utf8', 'UTF-8'],
  ['a list', '[1]', 'not-object', 'not an object'],
  ['stringified twice', JSON.stringify(sample), 'not-object', 'stringified twice'],
  ['a parsed object', JSON.parse(sample), 'not-raw', 'raw'],
  ['undefined', undefined, 'not-raw', 'raw'],
  ['a number', 7, 'not-raw', 'raw'],
  ['without a signature', eventText, 'no-signature', 'no top-level signature'],
  ['with a nested one only', '{"a":{"signature":"x"}}', 'no-signature', 'no top-level signature'],
  ['with two', `{"signature":"${hex}","signature":"${hex}"}`, 'duplicate-signature', 'more than one'],
  ['with a number', '{"signature":7}', 'unreadable-signature', 'a number'],
  ['with null', '{"signature":null}', 'unreadable-signature', 'null'],
  ['with a list', '{"signature":[]}', 'unreadable-signature', 'a list'],
  ['with an empty one', '{"signature":""}', 'unreadable-signature', '0 characters'],
  ['with SHA-256', `{"signature":"${'ab'.repeat(32)}"}`, 'unreadable-signature', '64 characters'],
  ['in mixed case', `{"signature":"A${hex.slice(1)}"}`, 'unreadable-signature', '128 of one case'],
  ['with 60,000 equals signs', `{"signature":"${'='.repeat(60_000)}x"}`, 'unreadable-signature', '60001'],
  ['of 1 MiB', withSignature(`{"a":"${'x'.repeat(1_048_576)}"}`, hex), 'too-large', '64 KiB'],
  ['of 1 MiB, in bytes', new Uint8Array(1_048_576), 'too-large', '64 KiB'],
  ['of 64 KiB in letters of two bytes', `{"a":"${'é'.repeat(33_000)}"}`, 'too-large', '64 KiB'],
];

describe('a body that cannot be searched', () => {
  it.each(unusable)('fits no scheme, and is a finding of the explanation: %s', (_, body, id, words) => {
    // As a caller without types would.
    expect(fittingSchemes(body as string, secrets)).toEqual([]);
    const { findings } = explainMismatch(body as string, { credentials: secrets });
    expect(findings).toMatchObject([{ id, advice: expect.stringMatching(/./) }]);
    expect(findings[0]?.what).toContain(words);
  });
});

describe('missing secrets', () => {
  it.each([
    [undefined],
    [null],
    [{}],
    [{ partnerSecretKey: '' }],
    [{ partnerSecretKey: 7 }],
    ['sk_partner_x'],
    // It signs nothing by itself.
    [{ partnerPublicKey: secrets.partnerPublicKey }],
  ])('are a finding, not an exception: %j', (given) => {
    expect(fittingSchemes(sample, given as never)).toEqual([]);
    expect(explainMismatch(sample, { credentials: given as never }).findings[0]?.id).toBe('no-secret');
  });

  it('are no options at all', () => {
    expect(explainMismatch(sample, undefined as never).findings[0]?.id).toBe('no-secret');
  });
});

describe('a body nested 10,000 levels deep', () => {
  const text = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
  const { partnerSecretKey } = secrets;

  it('is searched under the schemes that can write it', () => {
    expect(fittingSchemes(signedUnder(ofPartner, { text }), { partnerSecretKey })[0]).toEqual(ofPartner);
  });

  it('is searched in vain, and explained, without an exception', () => {
    const forged = withSignature(text, hex);
    expect(explainMismatch(forged, { credentials: { partnerSecretKey } }).findings[0]?.id).toBe(
      'nothing-fits',
    );
  }, 60_000);
});

describe('any text and any signature', () => {
  it('give a result without an exception', () => {
    const { partnerSecretKey } = secrets;
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), fc.string(), fc.string({ unit: codePoint })),
        fc.oneof(fc.string(), fc.constant(hex)),
        (text, signature) => {
          for (const body of [text, withSignature(text, signature)]) {
            expect(fittingSchemes(body, { partnerSecretKey }, 'general')).toEqual([]);
          }
        },
      ),
      { numRuns: times(4, 60) },
    );
  }, 60_000);
});
