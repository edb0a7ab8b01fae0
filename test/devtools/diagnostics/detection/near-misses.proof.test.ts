import { describe, expect, it } from 'vitest';
import { probeBody } from '../../../../src/devtools/diagnostics/detection/detect-from-oracle.ts';
import { detectScheme } from '../../../../src/devtools/diagnostics/detection/detect-scheme.ts';
import type { DetectionSecrets } from '../../../../src/devtools/diagnostics/detection/detection.ts';
import { explainMismatch } from '../../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import {
  eventText,
  orderKey,
  pythonStyle,
  secrets,
  signedOver,
  signedUnder,
  withSignature,
} from '../support.ts';

const plainHmac = { construction: 'hmac', serialization: 'as-sent', encoding: 'hex' } as const;
const hmac = plainHmac;
const { partnerSecretKey, merchantSecretKey, partnerPublicKey } = secrets;
/** The search tries each text with every key and form: one member gives few texts. */
const shortText = '{"id":1}';
const sample = signedUnder(hmac, { text: shortText });

function nearMiss(body: string, given: DetectionSecrets = secrets) {
  const { verdict, nearMisses } = detectScheme(body, given);
  const [first] = nearMisses;
  return { verdict, code: first?.code, scheme: first?.scheme, message: first?.message };
}

describe('secrets that were given wrongly', () => {
  it.each([
    ['a line feed behind one', { ...secrets, partnerSecretKey: `${partnerSecretKey}\n` }],
    [
      'blanks around both',
      { partnerSecretKey: ` ${partnerSecretKey} `, merchantSecretKey: `\t${merchantSecretKey}\r\n` },
    ],
  ])('are found out to be padded: %s', (_, given) => {
    expect(nearMiss(sample, given)).toMatchObject({ verdict: 'none', code: 'secret-padded', scheme: hmac });
  });

  it('are named when they are padded', () => {
    expect(nearMiss(sample, { ...secrets, partnerSecretKey: `${partnerSecretKey}\n` }).message).toContain(
      'around partnerSecretKey:',
    );
  });

  it.each([
    [
      'merchant and public',
      { partnerSecretKey, merchantSecretKey: partnerPublicKey, partnerPublicKey: merchantSecretKey },
    ],
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
    expect(nearMiss(sample, given)).toMatchObject({ code: 'secrets-swapped', scheme: hmac });
  });

  it('fit as partner+merchant when these two are swapped, which is suspected', () => {
    const swapped = { partnerSecretKey: merchantSecretKey, merchantSecretKey: partnerSecretKey };
    const { survivors, nearMisses } = detectScheme(sample, swapped);
    expect(survivors[0]?.scheme).toEqual({ ...hmac, orderKey: 'partner+merchant' });
    expect(nearMisses[0]).toMatchObject({ code: 'secrets-swapped', scheme: hmac, samples: [0] });
    expect(nearMisses[0]?.message).toContain('prefixes');
  });

  it('are suspected to be swapped also without prefixes that tell', () => {
    const swapped = { partnerSecretKey: 'first-secret', merchantSecretKey: 'second-secret' };
    const { nearMisses } = detectScheme(
      signedOver(shortText, shortText, 'first-secretsecond-secret'),
      swapped,
    );
    expect(nearMisses[0]).toMatchObject({ code: 'secrets-swapped', scheme: hmac });
  });

  it('are found out by prefix when one alone signs in the place of the other', () => {
    const swapped = { partnerSecretKey: merchantSecretKey, merchantSecretKey: partnerSecretKey };
    const { nearMisses } = detectScheme(
      signedUnder({ ...hmac, orderKey: 'partner' }, { text: shortText }),
      swapped,
    );
    expect(nearMisses[0]).toMatchObject({
      code: 'secrets-swapped',
      scheme: { ...hmac, orderKey: 'partner' },
    });
  });
});

describe('a sample that anybody could sign', () => {
  const forged = signedOver(shortText, shortText, partnerPublicKey);

  it('is a forgery, which the message says first', () => {
    const { verdict, message, survivors, nearMisses } = detectScheme(forged, secrets);
    expect({ verdict, survivors }).toEqual({ verdict: 'none', survivors: [] });
    expect(message).toMatch(/^Signed with the public key alone, which anybody knows: a forgery/);
    expect(nearMisses.map(({ code }) => code)).toEqual(['forged']);
  });

  it('is pointed out among others', () => {
    const { verdict, survivors, message, nearMisses } = detectScheme([forged, sample], secrets);
    expect({ verdict, survivors }).toEqual({
      verdict: detectScheme(sample, secrets).verdict,
      survivors: detectScheme(sample, secrets).survivors,
    });
    expect(message).toContain('a forgery');
    expect(nearMisses).toMatchObject([{ code: 'forged', samples: [0] }]);
  });

  it.each([
    { ...secrets, partnerSecretKey: partnerPublicKey },
    { ...secrets, merchantSecretKey: partnerPublicKey },
    { partnerSecretKey: 'plain-secret', partnerPublicKey },
  ])('never makes the public key a scheme, wherever it was given', (given) => {
    for (const purpose of ['order', 'general'] as const) {
      expect(detectScheme(forged, given, { purpose }).survivors).toEqual([]);
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
  ])('are found out: %s', (code, key, words) => {
    const miss = nearMiss(signedOver(shortText, shortText, key));
    // A line feed between the two is a scheme of its own.
    if (words === undefined) expect(miss.verdict).toBe('ambiguous');
    else {
      expect(miss).toMatchObject({ verdict: 'none', code, scheme: hmac });
      expect(miss.message).toContain(words);
    }
  });

  it('are the key for orders where a general request was expected', () => {
    const { nearMisses } = detectScheme(sample, secrets, { purpose: 'general' });
    expect(nearMisses[0]).toMatchObject({ code: 'key-for-orders', scheme: hmac });
  });

  it('are swapped where a general request was expected', () => {
    const swapped = { partnerSecretKey: merchantSecretKey, merchantSecretKey: partnerSecretKey };
    const body = signedOver(shortText, shortText, partnerSecretKey);
    const { nearMisses } = detectScheme(body, swapped, { purpose: 'general' });
    expect(nearMisses[0]).toMatchObject({ code: 'secrets-swapped', scheme: hmac });
  });
});

describe('a body that was signed in another form', () => {
  // With one secret the search is short.
  const hmac = { ...plainHmac, orderKey: 'partner' } as const;
  const signed = (text: string, other: string) => signedOver(text, other, partnerSecretKey);
  const formMiss = (body: string) => nearMiss(body, { partnerSecretKey });

  it.each(['', 'signature', 'SIGNATURE', '0'.repeat(128)])(
    'with its signature member in it: %j',
    (placeholder) => {
      const body = signed(eventText, withSignature(eventText, placeholder));
      expect(formMiss(body)).toMatchObject({ verdict: 'none', code: 'signature-in-body', scheme: hmac });
    },
  );

  it('with a signature member that is null', () => {
    const text = `${eventText.slice(0, -1)},"signature":null}`;
    expect(formMiss(signed(eventText, text))).toMatchObject({
      code: 'signature-in-body',
      scheme: hmac,
    });
  });

  it('with its signature member in it, sorted', () => {
    const body = signed('{"z":1,"a":2.0}', '{"a":2,"signature":"","z":1}');
    expect(formMiss(body)).toMatchObject({
      code: 'signature-in-body',
      scheme: { ...hmac, serialization: 'sorted' },
    });
  });

  it('with its signature member in the middle', () => {
    const text = '{"z":1,"signature":"","a":2.0}';
    const body = signed(eventText, text).match(/"signature":"[0-9a-f]+"/)?.[0] ?? '';
    expect(formMiss(`{"z":1,${body},"a":2.0}`)).toMatchObject({ code: 'signature-in-body', scheme: hmac });
  });

  it('stringified twice', () => {
    const body = signed(eventText, JSON.stringify(eventText));
    expect(formMiss(body)).toMatchObject({ verdict: 'none', code: 'stringified-twice', scheme: hmac });
  });

  it.each(['\n', '\r\n'])('with a line break behind it: %j', (newline) => {
    const body = signed(eventText, eventText + newline);
    expect(formMiss(body)).toMatchObject({ verdict: 'none', code: 'newline-signed', scheme: hmac });
  });

  it('with a line break behind it, in base64', () => {
    const body = signed(eventText, Buffer.from(`${eventText}\n`).toString('base64'));
    expect(formMiss(body)).toMatchObject({
      code: 'newline-signed',
      scheme: { ...hmac, serialization: 'base64' },
    });
  });

  it.each([
    ['two spaces', JSON.stringify(JSON.parse(eventText), null, 2)],
    ['tabs', JSON.stringify(JSON.parse(eventText), null, '\t')],
  ])('indented by %s', (words, text) => {
    const miss = formMiss(signed(eventText, text));
    expect(miss).toMatchObject({ code: 'other-spelling', scheme: hmac });
    expect(miss.message).toContain(words);
  });

  it.each([
    ['ensure_ascii', '{"a": "é/<", "n": [1, 2.0]}'],
    ['JSON_UNESCAPED_SLASHES', '{"a":"\\u00e9/<","n":[1,2.0]}'],
    ['JSON_UNESCAPED_UNICODE', '{"a":"é\\/<","n":[1,2.0]}'],
    ['Go', '{"a":"é/\\u003c","n":[1,2.0]}'],
    ['.NET', '{"a":"\\u00E9/\\u003C","n":[1,2.0]}'],
  ])('in the spelling of another serializer: %s', (words, text) => {
    const miss = formMiss(signed('{"a":"é/<","n":[1,2.0]}', text));
    expect(miss).toMatchObject({ code: 'other-spelling', scheme: hmac });
    expect(miss.message).toContain(words);
  });

  it('in the spelling of .NET, with a plus, quotes, controls and a surrogate pair', () => {
    const sent = '{"buyer_phone":"+234","note":"\\"\\u000b\\n\\\\\u007f\u{1F511}`"}';
    const written = '{"buyer_phone":"\\u002B234","note":"\\u0022\\u000B\\n\\\\\\u007F\\uD83D\\uDD11\\u0060"}';
    const miss = formMiss(signed(sent, written));
    expect(miss).toMatchObject({ code: 'other-spelling', scheme: hmac });
    expect(miss.message).toContain('.NET');
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
    expect(miss).toMatchObject({ verdict: 'none', code: 'nested-unsigned' });
    expect(miss.message).toMatch(
      /JSON\.stringify\(body, Object\.keys\(body\)\.sort\(\)\).*anybody can change/,
    );
    const { findings, nextStep } = explainMismatch(body, { secrets: { partnerSecretKey } });
    expect(findings.map(({ code }) => code)).toEqual(['nested-unsigned']);
    expect(nextStep).toContain('sign the whole body');
  });

  it('with its numbers as Python writes them after parsing', () => {
    const python = pythonStyle(probeBody().replace('1e-7', '1e-07'));
    const miss = formMiss(signed(probeBody(), python));
    expect(miss).toMatchObject({ code: 'numbers-respelled', scheme: { ...hmac, serialization: 'python' } });
    expect(miss.message).toContain('Python');
  });

  it('with its numbers as JavaScript writes them, and its values joined', () => {
    const miss = formMiss(signed('{"b":10.0,"a":1.50}', '1.5|10'));
    expect(miss).toMatchObject({
      code: 'numbers-respelled',
      scheme: { ...hmac, serialization: 'values', joiner: '|' },
    });
  });
});

describe('near misses', () => {
  it('name every sample that they fit', () => {
    const body = (id: number) => `{"id":${id}}`;
    const samples = [1, 2].map((id) => signedOver(body(id), `${body(id)}\n`));
    const foreign = signedOver(body(3), body(3), 'another');
    const { nearMisses } = detectScheme([samples[0] ?? '', foreign, samples[1] ?? ''], secrets);
    expect(nearMisses.map(({ code, samples }) => ({ code, samples }))).toEqual([
      { code: 'newline-signed', samples: [0, 2] },
    ]);
  });

  it('are none for a body signed with an unknown secret', () => {
    expect(detectScheme(signedOver(shortText, shortText, 'another'), secrets).nearMisses).toEqual([]);
    expect(orderKey).not.toBe('another');
  });
});
