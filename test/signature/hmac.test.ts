import { describe, expect, it } from 'vitest';
import { signBody } from '../../src/signature/sign-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey } from '../support/bodies.ts';

describe('a signature is the HMAC that node:crypto makes', () => {
  it.each([
    ...[1, 2, 64, 127, 128, 129, 1000].map((length) => 'k'.repeat(length)),
    // Beyond ASCII their length in bytes is another.
    ...['é'.repeat(64), `${'é'.repeat(64)}x`, '😀'.repeat(32), `${'😀'.repeat(32)}x`],
    // They differ only at the end.
    ...['k ', ' k', `${'k'.repeat(128)}a`, `${'k'.repeat(128)}b`],
  ])('with the key %j', (key) => expectHmac('body', key));

  it.each(['', 'x', 'é', '\uffff', '😀'])('over bodies of any length: %j', (letter) => {
    for (const length of [1, 103, 104, 119, 120, 121, 1024, 16_384]) {
      expectHmac(letter.repeat(length), orderKey);
    }
  });
});

function expectHmac(filler: string, key: string): void {
  const { text, signature } = signBody({ a: filler }, { key });
  expect(signature).toBe(hmacHex(JSON.stringify({ a: filler }), key));
  expect(verifyBody(text, { key }).value.a).toBe(filler);
}
