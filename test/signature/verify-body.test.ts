import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, SignatureError } from '../../src/errors/errors.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { type VerifyOptions, verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey, signedText } from '../support/bodies.ts';
import { refusal, thrownBy } from '../support/refusal.ts';
import { allSchemes, schemeName, signatureOf } from './vector-schemes.ts';

const options = { key: orderKey };
const bytes = (text: string) => new TextEncoder().encode(text);

/** For what the types forbid and a JavaScript caller can still do. */
function verifyLoosely(body: unknown, given: unknown = options) {
  return verifyBody(body as string, given as VerifyOptions);
}

function refusalOf(body: unknown, given: unknown = options): string {
  return refusal(() => verifyLoosely(body, given));
}

describe('a rightly signed body', () => {
  const sent = signedText('{"a":1,"b":"x"}');

  it('comes back whole, with the signature', () => {
    expect(verifyBody(sent, options).value).toEqual({ a: 1, b: 'x', signature: hmacHex('{"a":1,"b":"x"}') });
  });

  it('comes with the text that was signed', () => {
    expect(verifyBody(sent, options).text).toBe('{"a":1,"b":"x"}');
  });

  it.each([
    ['text', sent],
    ['a Uint8Array', bytes(sent)],
    ['a Buffer', Buffer.from(sent)],
    ['a view into a larger buffer', bytes(`xx${sent}xx`).subarray(2, -2)],
    ['a Uint8Array of another realm, as under jest', runInNewContext(`Uint8Array.from([${bytes(sent)}])`)],
  ])('is taken as %s', (_, body) => {
    expect(verifyLoosely(body).text).toBe('{"a":1,"b":"x"}');
  });
});

describe('the key', () => {
  const sent = signedText('{"a":1}');

  it('is told by its place in the list', () => {
    expect(verifyBody(sent, { key: ['old', 'older', orderKey, 'other'] }).keyIndex).toBe(2);
  });

  it('is told as the first of equal ones', () => {
    expect(verifyBody(sent, { key: ['old', orderKey, orderKey] }).keyIndex).toBe(1);
  });

  it.each([
    ['empty', { key: '' }],
    ['an empty list', { key: [] }],
    ['a list of an empty one', { key: [''] }],
    ['missing', {}],
    ['not text', { key: 5 }],
    ['null', { key: null }],
    ['a list of something else', { key: [undefined] }],
  ])('is refused as a mistake in the configuration when it is %s', (_, given) => {
    expect(refusalOf(sent, given)).toBe('ConfigurationError invalid_credentials');
  });

  it('is refused when an empty one stands anywhere in the list, also when another would match', () => {
    expect(refusalOf(sent, { key: [orderKey, ''] })).toBe('ConfigurationError invalid_credentials');
  });
});

describe('a signature scheme says in words', () => {
  it.each<[unknown, string]>([
    [null, 'construction must be one of hmac, hash-suffix, hash-prefix'],
    [{ ...defaultScheme, encoding: 'base32' }, 'encoding must be one of hex, hex-upper, base64, base64-hex'],
    [{ ...defaultScheme, keySeparator: 5 }, 'keySeparator must be text'],
    [{ ...defaultScheme, separator: ':' }, 'separator has no place in an HMAC'],
    [{ ...defaultScheme, joiner: ',' }, 'joiner is for values only'],
  ])('what is wrong with %j, and which assumption it stands for', (scheme, fault) => {
    // What a JavaScript caller may pass.
    const error = thrownBy(() => checkScheme(scheme as SignatureScheme));
    expect(error).toMatchObject({ code: 'invalid_scheme', assumptions: ['signature-construction'] });
    expect(String(error)).toContain(`The signature scheme's ${fault}.`);
  });
});

describe('a signature scheme', () => {
  it('is checked again when it has changed since', () => {
    const scheme: SignatureScheme & { encoding: string } = { ...defaultScheme };
    verifyBody(signedText('{}'), { key: orderKey, scheme });
    scheme.encoding = 'base32' as 'hex';
    expect(refusalOf(signedText('{}'), { key: orderKey, scheme })).toBe('ConfigurationError invalid_scheme');
  });
});

describe('a body that something has parsed is refused, saying that the raw one is needed', () => {
  it.each([
    ['an object', JSON.parse(signedText('{"a":1}'))],
    ['an array', [1]],
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['a String object', Object(signedText('{"a":1}'))],
  ])('%s', (_, body) => {
    expect(refusalOf(body)).toBe('ConfigurationError raw_body_required');
  });
});

describe('a body that is not JSON', () => {
  it.each([
    ['empty', ''],
    ['white space', ' \r\n'],
    ['plain text', 'hello'],
    ['a form', 'a=1&signature=2'],
    ['HTML', '<html></html>'],
    ['cut off', signedText('{"a":1}').slice(0, -1)],
    ['followed by more', `${signedText('{"a":1}')}{}`],
    ['with a trailing comma', '{"a":1,}'],
    ['with single quotes', "{'a':1}"],
    ['with a comment', '{"a":1/**/}'],
    ['NaN as a value', '{"a":NaN}'],
    ['with a raw line break in a string', '{"a":"\n"}'],
    ['two objects on two lines', '{}\n{}'],
  ])('is refused: %s', (_, body) => {
    expect(refusalOf(body)).toBe('SignatureError body_not_json');
    expect(refusalOf(bytes(body))).toBe('SignatureError body_not_json');
  });
});

describe('JSON that is not an object is refused', () => {
  it.each(['[]', '[{"signature":"x"}]', 'null', 'true', '0', '"signature"', ' "text" '])('%s', (body) => {
    expect(refusalOf(body)).toBe('SignatureError body_not_object');
  });
});

describe('a body that is not UTF-8 is refused', () => {
  it.each([
    ['a stray continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate written as three bytes', [0xed, 0xa0, 0xbd]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['an emoji cut in half', [0xf0, 0x9f, 0x98]],
    ['Latin-1', [0xe9]],
  ])('%s', (_, wrong) => {
    const body = Uint8Array.from([...bytes('{"a":"'), ...wrong, ...bytes('","signature":"x"}')]);
    expect(refusalOf(body)).toBe('SignatureError body_not_utf8');
  });

  it.each([
    ['a high surrogate alone', '\ud83d'],
    ['a low surrogate alone', '\ude00'],
    ['a pair the wrong way round', '\ude00\ud83d'],
  ])('text with %s, though its replacement was signed', (_, wrong) => {
    const signature = hmacHex(`{"a":"${wrong.replaceAll(/./gu, '\ufffd')}"}`);
    expect(refusalOf(`{"a":"${wrong}","signature":"${signature}"}`)).toBe('SignatureError body_not_utf8');
  });
});

describe('a body nested 100,000 levels deep', () => {
  const levels = 100_000;
  const bodies = [
    ['arrays', `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`],
    ['objects', `{"a":${'{"b":'.repeat(levels)}1${'}'.repeat(levels)}}`],
  ] as const;

  it.each(bodies)('verifies as sent when it is rightly signed: %s', (_, unsigned) => {
    expect(verifyBody(signedText(unsigned), options).text === unsigned).toBe(true);
  });

  it.each(bodies)('is refused as sent when it is not: %s', (_, unsigned) => {
    expect(refusalOf(signedText(unsigned, hmacHex('{}')))).toBe('SignatureError signature_mismatch');
  });

  it.each(
    bodies.flatMap(([what, unsigned]) =>
      (['compact', 'sorted'] as const).map((serialization) => ({ what, unsigned, serialization })),
    ),
  )('is refused as too deep under $serialization: $what', ({ unsigned, serialization }) => {
    const given = { key: orderKey, scheme: { ...defaultScheme, serialization } };
    // Node 26 writes JSON of any depth.
    if (serialization === 'compact' && canWrite(unsigned))
      expect(verifyBody(signedText(unsigned), given).text === unsigned).toBe(true);
    else {
      const error = thrownBy(() => verifyBody(signedText(unsigned), given));
      expect(error).toMatchObject({ code: 'body_too_deep' });
      expect(String(error)).toContain('The body is nested too deeply to be serialised again.');
    }
  });

  it.each(bodies)('is refused as too deep to be read when a name has a backslash: %s', (_, unsigned) => {
    const error = thrownBy(() => verifyBody(signedText(unsigned.replace('"a"', '"\\\\"')), options));
    expect(error).toMatchObject({ code: 'body_too_deep' });
    expect(String(error)).toContain('The body is nested too deeply to be read.');
  });

  function canWrite(text: string): boolean {
    try {
      return JSON.stringify(JSON.parse(text)) === text;
    } catch {
      return false;
    }
  }
});

describe('a signature that is', () => {
  const right = hmacHex('{"a":1}');
  const malformed = 'SignatureError signature_malformed';
  /** A lower-case character that is not the given digit and ends in the same byte. */
  const beyondAscii = (digit: string) => String.fromCharCode(0x0400 + digit.charCodeAt(0));
  const mismatch = 'SignatureError signature_mismatch';

  it('missing is refused', () => {
    expect(refusalOf('{"a":1}')).toBe('SignatureError signature_missing');
  });

  it.each([
    ['in a nested object', `{"a":1,"inner":{"signature":"${right}"}}`],
    ['in an array', `{"a":1,"inner":[{"signature":"${right}"}]}`],
    ['under __proto__', `{"a":1,"__proto__":{"signature":"${right}"}}`],
    ['in a string that looks like a member', `{"a":"\\"signature\\":\\"${right}\\""}`],
    ['a value', '{"a":"signature"}'],
    ['of another case', `{"a":1,"Signature":"${right}"}`],
    ['a name with a blank', `{"a":1,"signature ":"${right}"}`],
  ])('only %s is refused as missing', (_, body) => {
    expect(refusalOf(body)).toBe('SignatureError signature_missing');
  });

  it.each([
    ['empty', '""'],
    ['a number', '12'],
    ['null', 'null'],
    ['true', 'true'],
    ['an object', `{"value":"${right}"}`],
    ['an array', `["${right}"]`],
    ['127 characters', `"${right.slice(1)}"`],
    ['129 characters', `"${right}0"`],
    ['padded with a blank', `" ${right.slice(1)}"`],
    ['followed by a line break', `"${right}\\n"`],
    ['not hexadecimal', `"${'g'.repeat(128)}"`],
    ['not hexadecimal in its last character', `"${right.slice(0, 127)}g"`],
    ['not ASCII', `"${'é'.repeat(128)}"`],
    ['in full-width digits', `"${'１'.repeat(128)}"`],
    // Their low bytes are those of 0 and a: what only looks at a byte a character takes them for digits.
    ['right but for letters beyond ASCII', `"${right.replaceAll('0', '\u0430').replaceAll('a', '\u0161')}"`],
    ['right but for its last letter, beyond ASCII', `"${right.slice(0, -1)}${beyondAscii(right.slice(-1))}"`],
    ['a digest of SHA-256 length', `"${right.slice(0, 64)}"`],
    ['in the wrong case', `"${right.toUpperCase()}"`],
    ['in mixed case', `"${right.slice(0, 64)}${right.slice(64).toUpperCase()}"`],
    ['prefixed with its algorithm', `"sha512=${right}"`],
    ['right, but in base64', `"${Buffer.from(right, 'hex').toString('base64')}"`],
  ])('%s is refused as malformed', (_, json) => {
    expect(refusalOf(`{"a":1,"signature":${json}}`)).toBe(malformed);
  });

  it.each([
    ['made with another key', hmacHex('{"a":1}', 'other')],
    ['made over another body', hmacHex('{"a":2}')],
    ['made over a parsed and rewritten body', hmacHex('{"a":1.0}')],
    [
      'made under another construction',
      signatureOf('{"a":1}', orderKey, { ...defaultScheme, construction: 'hash-suffix' }),
    ],
    ['all zeros', '0'.repeat(128)],
    ['wrong in its first digit', (right[0] === '0' ? '1' : '0') + right.slice(1)],
    ['wrong in its last digit', right.slice(0, -1) + (right.at(-1) === '0' ? '1' : '0')],
  ])('%s is refused as a mismatch', (_, signature) => {
    expect(refusalOf(signedText('{"a":1}', signature))).toBe(mismatch);
  });
});

describe('a signature in upper-case hex', () => {
  const scheme: SignatureScheme = { ...defaultScheme, encoding: 'hex-upper' };
  const right = signatureOf('{"a":1}', orderKey, scheme);

  it.each([
    ['lower case', right.toLowerCase()],
    ['base64', Buffer.from(right, 'hex').toString('base64')],
    ['127 characters', right.slice(1)],
    ['129 characters', `${right}A`],
    ['letters beyond ASCII', right.replaceAll('A', '\u0141')],
  ])('is refused as malformed when it comes as %s', (_, signature) => {
    expect(refusalOf(signedText('{"a":1}', signature), { key: orderKey, scheme })).toBe(
      'SignatureError signature_malformed',
    );
  });
});

describe('a signature in base64', () => {
  const scheme: SignatureScheme = { ...defaultScheme, encoding: 'base64' };
  const given = { key: orderKey, scheme };
  // A body whose signature has the two characters in which the base64 alphabets differ.
  const unsigned = bodyWhere((signature) => signature.includes('/') && signature.includes('+'));
  const right = signatureOf(unsigned, orderKey, scheme);

  it('may have its slashes escaped, as PHP writes them', () => {
    expect(verifyBody(signedText(unsigned, right.replaceAll('/', '\\/')), given).text).toBe(unsigned);
  });

  it.each([
    ['without padding', right.replaceAll('=', '')],
    ['with half its padding', right.slice(0, -1)],
    ['in the URL alphabet', right.replaceAll('+', '-').replaceAll('/', '_')],
    [
      'in the URL alphabet without padding',
      right.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'),
    ],
    ['with a line break', `${right.slice(0, 76)}\\r\\n${right.slice(76)}`],
    ['with a line break in place of padding', `${right.slice(0, 87)}\\n`],
    ['as hex', Buffer.from(right, 'base64').toString('hex')],
    [
      'as the base64 of its hex text',
      Buffer.from(Buffer.from(right, 'base64').toString('hex')).toString('base64'),
    ],
    ['with letters beyond ASCII', right.replaceAll('A', '\u0141').replaceAll('a', '\u0161')],
    ['one byte short', Buffer.from(right, 'base64').subarray(1).toString('base64')],
    ['with unused bits set', right.replace(/.==$/, (end) => `${successor(end.charAt(0))}==`)],
  ])('is refused as malformed when it comes %s', (_, signature) => {
    expect(refusalOf(signedText(unsigned, signature), given)).toBe('SignatureError signature_malformed');
  });

  function bodyWhere(fits: (signature: string) => boolean): string {
    for (let n = 0; ; n++) {
      const text = `{"n":${n}}`;
      if (fits(signatureOf(text, orderKey, scheme))) return text;
    }
  }

  /** The next letter of the alphabet: decodes to the same bytes, since the low bits of the last one are unused. */
  function successor(letter: string): string {
    return String.fromCharCode(letter.charCodeAt(0) + 1);
  }
});

describe('two signatures are refused', () => {
  it.each(allSchemes)(`under ${schemeName}`, (scheme) => {
    const signature = signatureOf('{"a":1}', orderKey, scheme);
    const body = `{"a":1,"signature":"${signature}","signature":"${signature}"}`;
    expect(refusalOf(body, { key: orderKey, scheme })).toBe('SignatureError signature_duplicated');
  });
});

describe('a signature member is found', () => {
  const right = hmacHex('{"a":1}');

  it.each([
    ['"\\u0073ignature"'],
    ['"\\u0073\\u0069\\u0067\\u006e\\u0061\\u0074\\u0075\\u0072\\u0065"'],
    ['"signatur\\u0065"'],
    ['"si\\u0067\\u006Eature"'],
  ])('when it is the only one, spelled %s', (name) => {
    expect(verifyBody(`{"a":1,${name}:"${right}"}`, options).value.signature).toBe(right);
  });

  it.each([
    ['a nested one before it', '{"inner":{"signature":"x"},"a":1}'],
    ['a nested one in an array', '{"inner":[{"signature":"x"},"signature"],"a":1}'],
    ['the word as a value', '{"a":"signature"}'],
    ['the word inside a string', '{"a":"the signature, \\"signature\\":\\"x\\","}'],
    ['the word at the end of a string', '{"a":"\\"signature"}'],
    ['the word after a backslash', '{"a":"\\\\","b":"\\\\\\"signature"}'],
    ['a longer name', '{"signature_note":1,"xsignature":2,"signatures":3}'],
    ['a name that ends in it', '{"\\"signature":1}'],
    ['an empty name', '{"":1," ":2}'],
  ])('beside %s', (_, unsigned) => {
    expect(verifyBody(signedText(unsigned), options).text).toBe(unsigned);
  });
});

describe('what parsing would lose is verified as it was written', () => {
  it.each([
    ['10.0', '{"n":10.0}'],
    ['1e2', '{"n":1e2}'],
    ['1E+2', '{"n":1E+2}'],
    ['-0', '{"n":-0}'],
    ['9007199254740993', '{"n":9007199254740993}'],
    ['a number beyond doubles', '{"n":1e999}'],
    ['escaped slashes', '{"u":"https:\\/\\/a.example"}'],
    ['escaped letters', '{"n":"\\u00e9\\u0301"}'],
    ['a letter and its escape', '{"n":"é\\u00e9"}'],
    ['an escaped surrogate pair', '{"n":"\\ud83d\\ude00"}'],
    ['a surrogate pair', '{"n":"😀"}'],
    ['an escaped lone surrogate', '{"n":"\\ud83d"}'],
    ['integer-like names', '{"b":1,"10":2,"2":3}'],
    ['a repeated member', '{"a":1,"a":2}'],
    ['an escaped zero', '{"n":"\\u0000"}'],
  ])('%s', (_, unsigned) => {
    expect(verifyBody(signedText(unsigned), options).text).toBe(unsigned);
  });

  it.each([
    ['10.0 for 10', '{"n":10}', '{"n":10.0}'],
    ['1e2 for 100', '{"n":100}', '{"n":1e2}'],
    ['-0 for 0', '{"n":0}', '{"n":-0}'],
    ['9007199254740993 for 9007199254740992', '{"n":9007199254740992}', '{"n":9007199254740993}'],
    ['an escape for its letter', '{"n":"é"}', '{"n":"\\u00e9"}'],
    ['other member order', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['white space', '{"a":1,"b":2}', '{"a":1, "b":2}'],
  ])('so %s is another body', (_, signed, sent) => {
    expect(refusalOf(signedText(sent, hmacHex(signed)))).toBe('SignatureError signature_mismatch');
  });
});

describe('the parsed value', () => {
  it('keeps members named __proto__ and constructor as members', () => {
    const { value } = verifyBody(signedText('{"__proto__":{"admin":true},"constructor":1}'), options);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'signature']);
    expect('admin' in value).toBe(false);
  });
});

describe.each(['as-sent', 'sorted'] as const)('a refusal under %s', (serialization) => {
  const scheme = { ...defaultScheme, serialization };
  const body = '{"pin":"body-secret"}';
  const expected = hmacHex(body);
  const errors = [
    ['mismatch', signedText(body, '0'.repeat(128))],
    ['malformed', signedText(body, 'body-secret')],
    ['missing', body],
    ['duplicated', signedText(signedText(body))],
    ['not JSON', `${body}body-secret`],
    ['not an object', '["body-secret"]'],
    ['not UTF-8', '{"pin":"body-secret\ud83d"}'],
  ] as const;

  it.each(errors)('holds neither body, key nor expected signature: %s', (_, sent) => {
    const error = thrownBy(() => verifyBody(sent, { key: [orderKey], scheme }));
    expect(error).toBeInstanceOf(SignatureError);
    const shown = everythingIn(error);
    expect(shown).not.toContain('body-secret');
    expect(shown).not.toContain(orderKey);
    expect(shown).not.toContain(expected);
    expect(shown).not.toContain(Buffer.from(expected, 'hex').toString('base64'));
  });

  it('has no cause that could quote the body', () => {
    expect(thrownBy(() => verifyBody(`${body}x`, { key: orderKey, scheme }))).not.toHaveProperty('cause');
  });

  it('cites the assumptions that a mismatch can stem from', () => {
    const error = thrownBy(() => verifyBody(errors[0][1], { key: orderKey, scheme }));
    expect((error as SignatureError).assumptions).toContain('signature-construction');
  });
});

describe('a refusal says what is wrong, and which assumptions can be', () => {
  const wrong = 'ab'.repeat(64);

  it.each<[body: unknown, what: string, assumptions?: string[]]>([
    ['', 'The body is empty.'],
    ['{', 'The body is not JSON.'],
    ['\uFEFF{', 'The body is not JSON.'],
    ['\uD800', 'The body is not UTF-8 text.'],
    [new Uint8Array([255]), 'The body is not UTF-8 text.'],
    ['[]', 'The body is not a JSON object.'],
    ['{"a":1}', 'The body has no top-level signature.'],
    [`{"signature":"${wrong}","signature":"${wrong}"}`, 'The body has more than one top-level signature.'],
    ['{"signature":1}', 'The signature is not a SHA-512 digest written as hex.', ['signature-encoding']],
    [
      `{"signature":"${wrong}"}`,
      'The signature does not match: another key, another signature scheme, or a changed body.',
      ['signature-construction', 'signature-serialization', 'signature-key'],
    ],
    [{}, 'A signature is checked over the raw body, not over a parsed object.'],
  ])('%j', (body, what, assumptions = []) => {
    const error = thrownBy(() => verifyLoosely(body));
    expect(error).toMatchObject({ message: expect.stringContaining(what), assumptions });
  });

  it.each<[key: unknown, what: string]>([
    [[], 'A signing key is missing or empty.'],
    ['', 'A signing key is missing or empty.'],
    [['a', ''], 'A signing key is missing or empty.'],
  ])('%j as the key', (key, what) => {
    expect(thrownBy(() => verifyLoosely('{}', { key }))).toMatchObject({
      code: 'invalid_credentials',
      message: expect.stringContaining(what),
    });
  });
});

describe('a mistake in the configuration', () => {
  it('does not show the body', () => {
    const error = thrownBy(() => verifyLoosely({ pin: 'body-secret' }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(everythingIn(error)).not.toContain('body-secret');
  });
});

/** All that a log, a debugger or an error tracker could read from an error. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) throw new TypeError('Not an error.');
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    JSON.stringify(Object.getOwnPropertyDescriptors(error)),
    inspect(error, { showHidden: true, depth: null, getters: true }),
    inspect(error, { showHidden: true, depth: null, customInspect: false }),
  ].join('\n');
}
