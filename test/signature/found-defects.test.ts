import { describe, expect, it } from 'vitest';
import { signBody } from '../../src/signature/sign-body.ts';
import type { SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { refusal, thrownBy } from '../support/refusal.ts';

// What the fuzzer and the vectors found, and what holds since.
const scheme = (serialization: SignatureScheme['serialization']) =>
  ({ construction: 'hmac', serialization, encoding: 'hex' }) as const;

describe('php', () => {
  // php-src, ext/json/json_encoder.c: the table of what is escaped has no bit for 7f.
  it('leaves U+007F as it is', () => {
    const sent = signedText('{"d":"\u007f"}', hmacHex('{"d":"\u007f"}'));
    expect(verifyBody(sent, { key: orderKey, scheme: scheme('php') }).text).toBe('{"d":"\u007f"}');
  });
});

describe('python-sorted', () => {
  // python3 -c 'import json; print(json.dumps({"\ue000": 1, "\ud800": 2}, sort_keys=True))'
  it('sorts names with lone surrogates by code point too', () => {
    const signed = '{"\\ud800": 2, "\\ue000": 1}';
    const sent = signedText('{"\\ue000":1,"\\ud800":2}', hmacHex(signed));
    expect(verifyBody(sent, { key: orderKey, scheme: scheme('python-sorted') }).text).toBe(signed);
  });

  // python3 -c 'import json; print(json.dumps({"a\0": 1, "a": 2, "a\0\0": 3}, sort_keys=True))'
  it('sorts a name before those that begin with it, also when U+0000 follows', () => {
    const signed = '{"a": 2, "a\\u0000": 1, "a\\u0000\\u0000": 3}';
    const sent = signedText('{"a\\u0000":1,"a":2,"a\\u0000\\u0000":3}', hmacHex(signed));
    expect(verifyBody(sent, { key: orderKey, scheme: scheme('python-sorted') }).text).toBe(signed);
  });
});

describe('a body in which a lone surrogate was changed into another', () => {
  it.each(['values', 'query'] as const)('is refused under %s', (serialization) => {
    const given = { key: orderKey, scheme: scheme(serialization) };
    const forged = signBody({ a: '\ufffd' }, given).text.replace('\ufffd', '\\udfff');
    expect(thrownBy(() => verifyBody(forged, given))).toMatchObject({
      code: 'body_not_utf8',
      message: expect.stringContaining('The body has half of a surrogate pair: it has no UTF-8 text.'),
    });
    expect(refusal(() => signBody({ a: '\ud800' }, given))).toBe('SignatureError body_not_utf8');
  });
});
