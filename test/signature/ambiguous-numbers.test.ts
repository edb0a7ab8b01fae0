import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { schemeParts } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { valueSerializations } from '../proof/scheme-vectors.ts';
import { orderKey } from '../support/bodies.ts';
import { refusal, thrownBy } from '../support/refusal.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';

const given = (serialization: (typeof schemeParts.serialization)[number]) => ({
  key: orderKey,
  scheme: { construction: 'hmac', serialization, encoding: 'hex' } as const,
});
const signsValue = schemeParts.serialization.filter((name) => valueSerializations.includes(name));
const signsText = schemeParts.serialization.filter((name) => !valueSerializations.includes(name));

/** Where a number may stand in a body. */
const places: [where: string, wrap: (value: null | 0) => JsonObject][] = [
  ['a member', (value) => ({ a: 1, amount: value })],
  ['a nested member', (value) => ({ a: { b: { amount: value } }, c: 2 })],
  ['an element', (value) => ({ a: [1, value, 2] })],
  ['an element of an object in an array', (value) => ({ a: [[{ b: [value] }]] })],
  ['a member called __proto__', (value) => JSON.parse(`{"a":{"__proto__":${value}}}`)],
];
const exchanges = [
  [null, '1e999'],
  [null, '-1e999'],
  [null, '9'.repeat(400)],
  [0, '-0'],
  [0, '-0.0'],
  [0, '-0e5'],
  [0, '-1e-999'],
] as const;
const forgeries = signsValue.flatMap((serialization) =>
  places.flatMap(([where, wrap]) =>
    exchanges.map(([signed, forged]) => ({ serialization, where, wrap, signed, forged })),
  ),
);

describe('a signed null or 0 that somebody has exchanged', () => {
  it.each(forgeries)(
    'for $forged is refused under $serialization: $where',
    ({ serialization, wrap, signed, forged }) => {
      const { text } = signBody(wrap(signed), given(serialization));
      expect(() => verifyBody(text, given(serialization))).not.toThrow();
      const exchanged = text.replace(new RegExp(`(?<=[:[,])${signed}(?=[,\\]}])`), () => forged);
      expect(exchanged).not.toBe(text);
      expect(thrownBy(() => verifyBody(exchanged, given(serialization)))).toMatchObject({
        code: 'body_ambiguous',
        assumptions: ['signature-serialization'],
        message: expect.stringContaining(
          `The body has -0 or a number that is out of range, and ${serialization} would sign it as 0 or null.`,
        ),
      });
    },
  );

  it.each(signsText)('does not have the right signature under %s', (serialization) => {
    const options = given(serialization);
    const { text } = signBody({ amount: 0 }, options);
    expect(refusal(() => verifyBody(text.replace(':0', ':-0'), options))).toBe(
      'SignatureError signature_mismatch',
    );
  });
});

describe('numbers that only resemble these verify', () => {
  const text = '{"a":[0.0,1e-999,-1,-0.5,1.7976931348623157e308,"-0","1e999",null,{"-0":"1e999"}]}';

  it.each(signsValue)('under %s', (serialization) => {
    const { signature } = signBody(JSON.parse(text), given(serialization));
    const sent = `${text.slice(0, -1)},"signature":"${signature}"}`;
    expect(() => verifyBody(sent, given(serialization))).not.toThrow();
  });
});

describe('looking for them', () => {
  it.each([
    [
      'many members',
      (size: number) => `{"a":1${Array.from({ length: size / 12 }, (_, n) => `,"k${n}":1`).join('')}`,
    ],
  ])('takes linear time over %s', (_, makeText) => {
    const makeBody = (size: number) => `${makeText(size)},"signature":"${'0'.repeat(128)}"}`;
    const verify = (body: string) => refusal(() => verifyBody(body, given('compact')));
    expect(growth(makeBody, verify)).toBeLessThan(wellBelowQuadratic);
  });
});
