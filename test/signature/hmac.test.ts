import { describe, expect, it } from 'vitest';
import { signBody } from '../../src/signature/sign-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey } from '../support/bodies.ts';

/** The keys and bodies whose signature is not the one that node:crypto's own HMAC makes, or does not verify. */
function differing(keys: string[], fillers: string[]): string[] {
  return keys.flatMap((key) =>
    fillers.flatMap((filler) => {
      const { text, signature } = signBody({ a: filler }, { key });
      const right = signature === hmacHex(JSON.stringify({ a: filler }), key);
      const verified = verifyBody(text, { key }).value.a === filler;
      return right && verified ? [] : [`key of ${key.length}, filler of ${filler.length}`];
    }),
  );
}

describe('a signature is the HMAC that node:crypto makes', () => {
  it('with keys shorter than, as long as and longer than a block', () => {
    const lengths = [1, 2, 63, 64, 65, 127, 128, 129, 192, 255, 256, 257, 1000];
    expect(
      differing(
        lengths.map((length) => 'k'.repeat(length)),
        ['', 'body'],
      ),
    ).toEqual([]);
  });

  it('with keys beyond ASCII, whose length in bytes is another', () => {
    const keys = [
      'é'.repeat(63),
      'é'.repeat(64),
      `${'é'.repeat(64)}x`,
      '😀'.repeat(32),
      `${'😀'.repeat(32)}x`,
    ];
    expect(differing(keys, ['body'])).toEqual([]);
  });

  it('with keys that differ only at the end', () => {
    const keys = ['k', 'k ', ' k', 'kk', `${'k'.repeat(128)}a`, `${'k'.repeat(128)}b`];
    expect(differing(keys, ['body'])).toEqual([]);
  });

  it.each(['x', 'é', '\uffff', '😀'])('over bodies of any length: %j', (letter) => {
    // Around the blocks of SHA-512 and the powers of two up to 16 Ki: where a buffer may end.
    const lengths = [0, 1, 111, 112, 127, 128, 129, ...[1024, 2048, 4096, 8192, 16_384].flatMap(around)];
    expect(
      differing(
        [orderKey],
        lengths.map((length) => letter.repeat(length)),
      ),
    ).toEqual([]);
  });

  it('over a short body after a long one', () => {
    expect(differing([orderKey], ['\uffff'.repeat(4000), '', 'x'.repeat(4000), 'a'])).toEqual([]);
  });

  it('with hundreds of keys, in turn and again', () => {
    const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`);
    expect(differing([...keys, ...keys.toReversed(), ...keys], ['body'])).toEqual([]);
  });
});

/** Lengths around a limit, whether it is meant for the filler or for the `{"a":""}` around it too. */
function around(limit: number): number[] {
  return Array.from({ length: 12 }, (_, index) => limit - 10 + index);
}
