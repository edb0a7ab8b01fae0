import { describe, expect, it } from 'vitest';
import type { UncheckedKeys } from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { fittingSchemes } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { explainMismatch } from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { eventText, secrets, signedOver, signedUnder } from '../support.ts';

const plainHmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const hmac = plainHmac;
/** No body here is signed under it. */
const other = { ...plainHmac, construction: 'hash-prefix' } as const;
const { partnerSecretKey, merchantSecretKey, partnerPublicKey } = secrets;
/** The search tries each text with every key and form: one member gives few texts. */
const shortText = '{"id":1}';
const sample = signedUnder(hmac, { text: shortText });

const explained = (body: string, credentials: UncheckedKeys = secrets, purpose?: 'general') =>
  explainMismatch(body, { credentials, scheme: other, purpose }).findings;

function nearMiss(body: string, credentials?: UncheckedKeys) {
  const [first] = explained(body, credentials);
  return { id: first?.id, what: first?.what ?? '' };
}

describe('secrets that were given wrongly', () => {
  it.each([
    ['a line feed behind one', { ...secrets, partnerSecretKey: `${partnerSecretKey}\n` }],
    [
      'blanks around both',
      { partnerSecretKey: ` ${partnerSecretKey} `, merchantSecretKey: `\t${merchantSecretKey}\r\n` },
    ],
  ])('are found out to be padded: %s', (_, given) => {
    expect(nearMiss(sample, given)).toMatchObject({ id: 'secret-padded' });
  });

  it('are named when they are padded', () => {
    expect(nearMiss(sample, { ...secrets, partnerSecretKey: `${partnerSecretKey}\n` }).what).toContain(
      'around partnerSecretKey:',
    );
  });

  it('fit as the key in the other order when these two are swapped', () => {
    const swapped = { partnerSecretKey: merchantSecretKey, merchantSecretKey: partnerSecretKey };
    const { findings } = explainMismatch(sample, { credentials: swapped });
    expect(findings).toMatchObject([
      { id: 'key-order', what: expect.stringContaining("in each other's place") },
    ]);
  });
});

describe('a sample that anybody could sign', () => {
  const forged = signedOver(shortText, shortText, partnerPublicKey);

  it.each([
    { ...secrets, partnerSecretKey: partnerPublicKey },
    { ...secrets, merchantSecretKey: partnerPublicKey },
    { partnerSecretKey: 'plain-secret', partnerPublicKey },
  ])('never makes the public key a scheme, wherever it was given', (given) => {
    for (const purpose of ['order', 'general'] as const) {
      expect(fittingSchemes(forged, given, purpose)).toEqual([]);
    }
  });
});

describe('secrets that the signer has otherwise', () => {
  it('are the key for orders where a general request was expected', () => {
    expect(explained(sample, secrets, 'general')[0]?.id).toBe('key-for-orders');
  });

  it('are a merchant secret where a general request was expected', () => {
    const body = signedOver(shortText, shortText, merchantSecretKey);
    expect(explained(body, secrets, 'general')[0]?.id).toBe('key-for-orders');
  });
});

describe('a body that was signed in another form', () => {
  // With one secret the search is short.
  const signed = (text: string, other: string) => signedOver(text, other, partnerSecretKey);
  const formMiss = (body: string) => nearMiss(body, { partnerSecretKey });

  it('stringified twice', () => {
    const body = signed(eventText, JSON.stringify(eventText));
    expect(formMiss(body)).toMatchObject({ id: 'stringified-twice' });
  });

  it.each(['\n', '\r\n'])('with a line break behind it: %j', (newline) => {
    const body = signed(eventText, eventText + newline);
    expect(formMiss(body)).toMatchObject({ id: 'newline-signed' });
  });

  it('with a line break behind it, in base64', () => {
    const body = signed(eventText, Buffer.from(`${eventText}\n`).toString('base64'));
    expect(formMiss(body)).toMatchObject({ id: 'newline-signed' });
  });

  it.each([
    ['two spaces', JSON.stringify(JSON.parse(eventText), null, 2)],
    ['tabs', JSON.stringify(JSON.parse(eventText), null, '\t')],
  ])('indented by %s', (words, text) => {
    const miss = formMiss(signed(eventText, text));
    expect(miss).toMatchObject({ id: 'other-spelling' });
    expect(miss.what).toContain(words);
  });

  it.each([
    ['ensure_ascii', '{"a": "é/<", "n": [1, 2.0]}'],
    ['JSON_UNESCAPED_UNICODE', '{"a":"é\\/<","n":[1,2.0]}'],
  ])('in the spelling of another serializer: %s', (words, text) => {
    const miss = formMiss(signed('{"a":"é/<","n":[1,2.0]}', text));
    expect(miss).toMatchObject({ id: 'other-spelling' });
    expect(miss.what).toContain(words);
  });
});

it('nothing fits a body that an unknown secret signed', () => {
  const { partnerSecretKey: _, ...others } = secrets;
  expect(explained(signedOver(shortText, shortText, 'another'), others).map(({ id }) => id)).toContain(
    'nothing-fits',
  );
});
