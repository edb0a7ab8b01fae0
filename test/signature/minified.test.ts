import { describe, expect, it } from 'vitest';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';

const given = (serialization: SignatureScheme['serialization']) => ({
  key: orderKey,
  scheme: { ...defaultScheme, serialization },
});

/** What a sender posts, and the compact copy of it that it signs. */
const senders = [
  // json.dumps(o) is posted, json.dumps(o, separators=(',', ':')) is signed.
  [
    'minified',
    'Python',
    String.raw`{"\u00e9": 1, "fee": 10.0, "city": "Yaound\u00e9/1", "a": {"z": 1, "b": 1e-07}}`,
    String.raw`{"\u00e9":1,"fee":10.0,"city":"Yaound\u00e9/1","a":{"z":1,"b":1e-07}}`,
  ],
  // The same with sort_keys=True.
  [
    'minified-sorted',
    'Python',
    String.raw`{"\u00e9": 1, "fee": 10.0, "a": {"z": 1, "b": 1e-07, "\u00fc": [{"y": 2, "x": 3}]}}`,
    String.raw`{"a":{"b":1e-07,"z":1,"\u00fc":[{"x":3,"y":2}]},"fee":10.0,"\u00e9":1}`,
  ],
  // Jackson's pretty printer, and a TreeMap.
  [
    'minified-sorted',
    'Java',
    '{\n  "rate" : 1.0E-7,\n  "fee" : 10.00,\n  "city" : "Yaoundé/1"\n}',
    '{"city":"Yaoundé/1","fee":10.00,"rate":1.0E-7}',
  ],
  // json_encode with JSON_PRETTY_PRINT, and of a copy after ksort.
  [
    'minified-sorted',
    'PHP',
    String.raw`{
    "url": "https:\/\/a.example",
    "fee": 10.0,
    "city": "Yaound\u00e9"
}`,
    String.raw`{"city":"Yaound\u00e9","fee":10.0,"url":"https:\/\/a.example"}`,
  ],
] as const;

describe.each(senders)('under %s a body of %s', (serialization, _, sent, signed) => {
  const body = (changed = sent as string) => signedText(changed, hmacHex(signed));

  it('verifies over the copy that its sender signs, with every token as it is spelled', () => {
    expect(verifyBody(body(), given(serialization))).toMatchObject({ text: signed });
  });

  it('does not verify with another spelling of a number or an escape', () => {
    for (const [from, to] of [
      [/10\.00?/, '10'],
      [/\\u00e9|é/, (spelling: string) => (spelling === 'é' ? String.raw`\u00e9` : 'é')],
      [/\//, String.raw`\u002f`],
    ] as const) {
      // Sound: both kinds of replacement are those of `replace`.
      const changed = sent.replace(from, to as string);
      if (changed === sent) continue;
      expect(refusal(() => verifyBody(body(changed), given(serialization)))).toBe(
        'SignatureError signature_mismatch',
      );
    }
  });
});

it('minified-sorted signs the last of two equal names, as a map of the sender has it and JSON.parse reads', () => {
  const signed = String.raw`{"a":{"b":3},"\u0062":2}`;
  const sent = signedText(String.raw`{"b":1,"a":{"b":2,"b":3},"\u0062":2}`, hmacHex(signed));
  expect(verifyBody(sent, given('minified-sorted'))).toMatchObject({
    text: signed,
    value: { a: { b: 3 }, b: 2 },
  });
});
