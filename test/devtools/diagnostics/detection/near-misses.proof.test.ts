import { describe, expect, it } from 'vitest';
import type { UncheckedKeys } from '../../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { fittingSchemes } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { probe } from '../../../../src/devtools/diagnostics/learn/ask-oracle.ts';
import { explainMismatch } from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { eventText, pythonStyle, secrets, signedOver, signedUnder, withSignature } from '../support.ts';

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

  it.each([
    [
      'partner and public',
      { partnerSecretKey: partnerPublicKey, merchantSecretKey, partnerPublicKey: partnerSecretKey },
    ],
    [
      'all three',
      {
        partnerSecretKey: merchantSecretKey,
        merchantSecretKey: partnerPublicKey,
        partnerPublicKey: partnerSecretKey,
      },
    ],
  ])('are found out to be swapped: %s', (_, given) => {
    expect(nearMiss(sample, given)).toMatchObject({ id: 'secrets-swapped' });
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
  it.each([
    ['secret-with-newline', `${merchantSecretKey}${partnerSecretKey}\n`, 'behind partnerSecretKey:'],
    ['secret-with-newline', `${merchantSecretKey}\n${partnerSecretKey}`, undefined],
    [
      'secret-with-newline',
      `${merchantSecretKey}\r\n${partnerSecretKey}\r\n`,
      'behind partnerSecretKey and merchantSecretKey',
    ],
    ['secret-with-blank', `${merchantSecretKey}${partnerSecretKey} `, 'a blank'],
    ['secret-without-prefix', `${merchantSecretKey.slice(12)}${partnerSecretKey.slice(11)}`, 'prefixes'],
  ])('are found out: %s', (id, key, words) => {
    const miss = nearMiss(signedOver(shortText, shortText, key));
    // A line feed between the two is a scheme of its own.
    if (words === undefined) expect(miss.id).toBe('other-construction');
    else {
      expect(miss.id).toBe(id);
      expect(miss.what).toContain(words);
    }
  });

  it('are the key for orders where a general request was expected', () => {
    expect(explained(sample, secrets, 'general')[0]?.id).toBe('key-for-orders');
  });

  it('are swapped where a general request was expected', () => {
    const swapped = { partnerSecretKey: merchantSecretKey, merchantSecretKey: partnerSecretKey };
    const body = signedOver(shortText, shortText, partnerSecretKey);
    expect(explained(body, swapped, 'general')[0]?.id).toBe('secrets-swapped');
  });
});

describe('a body that was signed in another form', () => {
  // With one secret the search is short.
  const signed = (text: string, other: string) => signedOver(text, other, partnerSecretKey);
  const formMiss = (body: string) => nearMiss(body, { partnerSecretKey });

  it.each(['', 'signature', 'SIGNATURE', '0'.repeat(128)])(
    'with its signature member in it: %j',
    (placeholder) => {
      const body = signed(eventText, withSignature(eventText, placeholder));
      expect(formMiss(body)).toMatchObject({ id: 'signature-in-body' });
    },
  );

  it('with a signature member that is null', () => {
    const text = `${eventText.slice(0, -1)},"signature":null}`;
    expect(formMiss(signed(eventText, text))).toMatchObject({
      id: 'signature-in-body',
    });
  });

  it('with its signature member in it, sorted', () => {
    const body = signed('{"z":1,"a":2.0}', '{"a":2,"signature":"","z":1}');
    expect(formMiss(body)).toMatchObject({ id: 'signature-in-body' });
  });

  it('with its signature member in the middle', () => {
    const text = '{"z":1,"signature":"","a":2.0}';
    const body = signed(eventText, text).match(/"signature":"[0-9a-f]+"/)?.[0] ?? '';
    expect(formMiss(`{"z":1,${body},"a":2.0}`)).toMatchObject({ id: 'signature-in-body' });
  });

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

  it('as JSON.stringify writes it with the sorted names at its top: no scheme, and said to leave members open', () => {
    const close = {
      pair: 'NGN/EUSD',
      meta_data: { status: 'refunded', pair: 'x', fee: 1 },
      chain: 'eusd-mob',
    };
    const text = JSON.stringify(close, Object.keys(close).sort());
    expect(text).toBe('{"chain":"eusd-mob","meta_data":{"pair":"x"},"pair":"NGN/EUSD"}');
    const body = signed(JSON.stringify(close), text);
    const miss = formMiss(body);
    expect(miss).toMatchObject({ id: 'nested-unsigned' });
    expect(miss.what).toMatch(/JSON\.stringify\(body, Object\.keys\(body\)\.sort\(\)\).*anybody can change/);
    const findings = explained(body, { partnerSecretKey });
    expect(findings.map(({ id }) => id)).toEqual(['nested-unsigned']);
    expect(findings[0]?.advice).toContain('sign the whole body');
  });

  it('with its numbers as Python writes them after parsing', () => {
    const python = pythonStyle(probe.replace('1e-7', '1e-07'));
    const miss = formMiss(signed(probe, python));
    expect(miss).toMatchObject({ id: 'numbers-respelled' });
    expect(miss.what).toContain('Python');
  });

  it('with its numbers as JavaScript writes them, and its values joined', () => {
    const miss = formMiss(signed('{"b":10.0,"a":1.50}', '1.5|10'));
    expect(miss).toMatchObject({ id: 'numbers-respelled' });
  });
});

it('nothing fits a body that an unknown secret signed', () => {
  const { partnerSecretKey: _, ...others } = secrets;
  expect(explained(signedOver(shortText, shortText, 'another'), others).map(({ id }) => id)).toContain(
    'nothing-fits',
  );
});
