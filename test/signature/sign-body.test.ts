import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../src/errors/errors.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import { type SignOptions, signBody } from '../../src/signature/sign-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { codePoint } from '../support/any-text.ts';
import { hmacHex, orderKey } from '../support/bodies.ts';
import { refusal, thrownBy } from '../support/refusal.ts';
import { times } from '../support/repeat.ts';
import { allSchemes, schemeName } from './vector-schemes.ts';

/** For what the types forbid and a JavaScript caller can still do. */
function signLoosely(body: unknown, options: unknown = { key: orderKey }) {
  return signBody(body as JsonObject, options as SignOptions);
}

describe('a signed body', () => {
  it('is the JSON of the body with the signature last', () => {
    const signature = hmacHex('{"partner_order_id":"A-1","n":1.5}');
    expect(signBody({ partner_order_id: 'A-1', n: 1.5 }, { key: orderKey })).toEqual({
      text: `{"partner_order_id":"A-1","n":1.5,"signature":"${signature}"}`,
      signature,
    });
  });

  it('has the digits of JSON.rawJSON, which no number of JavaScript holds', () => {
    // Sound: since V8 11.4, and no type of TypeScript's yet.
    const { rawJSON } = JSON as unknown as { rawJSON(text: string): JsonObject };
    const { text, signature } = signBody({ n: rawJSON('12345678901234567890') }, { key: orderKey });
    expect(text).toBe(`{"n":12345678901234567890,"signature":"${signature}"}`);
    expect(signature).toBe(hmacHex('{"n":12345678901234567890}'));
  });

  it('writes a lone surrogate as an escape, so that the text is UTF-8', () => {
    expect(signBody({ name: '\ud83d' }, { key: orderKey }).signature).toBe(hmacHex('{"name":"\\ud83d"}'));
  });

  it('leaves out members that are undefined, at any depth', () => {
    const { signature } = signLoosely({ a: 1, b: undefined, c: { d: undefined } });
    expect(signature).toBe(hmacHex('{"a":1,"c":{}}'));
  });

  it.each(allSchemes)('keeps a __proto__ member: $serialization', (scheme) => {
    const body = JSON.parse('{"__proto__":{"a":1},"nested":{"__proto__":2}}');
    const { text } = signBody(body, { key: orderKey, scheme });
    const { signature: _, ...rest } = JSON.parse(text);
    expect(JSON.stringify(rest)).toBe('{"__proto__":{"a":1},"nested":{"__proto__":2}}');
  });

  it.each(allSchemes)('replaces the signature that the body already has: $serialization', (scheme) => {
    const fresh = signBody({ a: 1, b: [2] }, { key: orderKey, scheme });
    expect(signBody({ a: 1, signature: 'old', b: [2] }, { key: orderKey, scheme })).toEqual(fresh);
  });

  it('ignores members that are inherited, symbols or hidden', () => {
    const body = Object.create(Object.assign(Object.create(null), { inherited: 1, signature: 'inherited' }));
    body.a = 1;
    body[Symbol('s')] = 2;
    Object.defineProperty(body, 'hidden', { value: 3 });
    expect(signLoosely(body).signature).toBe(hmacHex('{"a":1}'));
  });

  it('comes from a body that is left as it was', () => {
    const body = Object.freeze({ b: Object.freeze({ z: 1, y: 2 }), a: Object.freeze([1]), signature: 'old' });
    const before = JSON.stringify(body);
    signLoosely(body);
    expect(JSON.stringify(body)).toBe(before);
  });

  it.each(allSchemes)(
    'is signed as posted when a member reads differently each time: $serialization',
    (scheme) => {
      let reads = 0;
      const body = Object.defineProperty({}, 'n', { enumerable: true, get: () => ++reads });
      const { text } = signLoosely(body, { key: orderKey, scheme });
      expect(verifyBody(text, { key: orderKey, scheme }).value.n).toBeTypeOf('number');
    },
  );

  it('of an empty object holds the signature alone', () => {
    expect(signBody({}, { key: orderKey }).text).toBe(`{"signature":"${hmacHex('{}')}"}`);
  });
});

describe.each(allSchemes)(`a body signed as ${schemeName}`, (scheme) => {
  it('verifies, whatever JSON it holds', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: codePoint }), fc.jsonValue({ maxDepth: 3, stringUnit: codePoint })),
        (body) => {
          const { text } = signBody(body as JsonObject, { key: orderKey, scheme });
          const { signature: _, ...rest } = body;
          const { signature: __, ...verified } = verifyBody(text, { key: orderKey, scheme }).value;
          expect(verified).toEqual(JSON.parse(JSON.stringify(rest)));
        },
      ),
      { seed: 5, numRuns: times(4, 60) },
    );
  });
});

describe('a body that is not JSON data is refused, naming the member', () => {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle.self = circle;

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['minus Infinity', Number.NEGATIVE_INFINITY],
    ['a BigInt', 10n],
    ['a Date', new Date(0)],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a class instance', new (class Amount {})()],
    ['a boxed number', Object(1)],
    ['bytes', new Uint8Array(1)],
    ['an array with a hole', Array(1)],
    ['an object with a toJSON method', { toJSON: () => 'other' }],
    ['an object with a hidden toJSON method', withHiddenToJson({ fine: 1 })],
    ['an object that inherits a toJSON method', Object.create(withHiddenToJson(Object.create(null)))],
    ['an array with a toJSON method', Object.assign([1], { toJSON: () => 'other' })],
  ])('%s', (_, value) => {
    const error = thrownBy(() => signLoosely({ order: { fine: 1, lines: [0, { amount: value }] } }));
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).issues[0]?.path.slice(0, 4)).toEqual(['order', 'lines', 1, 'amount']);
    expect(String(error)).toContain('The body to sign: order.lines');
  });

  it.each([
    ['a circle', circle],
    ['10,000 levels of objects', nested(10_000, (inner) => ({ inner }))],
    ['10,000 levels of arrays', nested(10_000, (inner) => [inner])],
  ])('%s', (_, value) => {
    const error = thrownBy(() => signLoosely({ fine: 1, wrong: value }));
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).issues[0]?.path[0]).toBe('wrong');
  });

  it.each([
    ['null', null],
    ['an array', []],
    ['a string', '{}'],
    ['undefined', undefined],
    ['a Map', new Map()],
    ['a Date', new Date(0)],
    ['an object with a hidden toJSON method', withHiddenToJson({ fine: 1 })],
    ['an object that inherits a toJSON method', Object.create(withHiddenToJson(Object.create(null)))],
  ])('%s in place of the body', (_, body) => {
    expect(thrownBy(() => signLoosely(body))).toMatchObject({
      code: 'invalid_input',
      issues: [
        { path: [], message: expect.stringMatching(/^must be (?:an object|a plain object|plain data)/) },
      ],
      message: expect.stringContaining('The body to sign: must be '),
    });
  });

  it('without showing the value', () => {
    const error = thrownBy(() => signLoosely({ pin: Object('secret-pin') }));
    expect(String(error)).not.toContain('secret-pin');
  });

  it('except for nesting as deep as any payload has', () => {
    const body = { wide: nested(400, (inner) => [inner]) };
    expect(() => signBody(body, { key: orderKey })).not.toThrow();
  });
});

describe('signing needs', () => {
  it.each([
    ['an empty key', ''],
    ['no key', undefined],
    ['a key that is not text', 5],
    ['a list of keys', [orderKey, 'other']],
  ])('a key: %s is refused', (_, key) => {
    expect(refusal(() => signLoosely({ a: 1 }, { key }))).toBe('ConfigurationError invalid_credentials');
  });

  it('a scheme that exists', () => {
    const scheme = { construction: 'md5', serialization: 'as-sent', encoding: 'hex' };
    expect(refusal(() => signLoosely({ a: 1 }, { key: orderKey, scheme }))).toBe(
      'ConfigurationError invalid_scheme',
    );
  });
});

function withHiddenToJson(object: object): object {
  return Object.defineProperty(object, 'toJSON', { value: () => 'other' });
}

function nested(levels: number, wrap: (inner: JsonValue) => JsonValue): JsonValue {
  let value: JsonValue = 'bottom';
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}
