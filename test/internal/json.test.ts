import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { membersOf, tryParse } from '../../src/internal/json.ts';
import { decodeUtf8 } from '../../src/internal/utf8.ts';

it('a text that is not JSON is undefined', () => {
  expect([tryParse('null'), tryParse('{"a":1}')]).toEqual([null, { a: 1 }]);
  for (const text of ['', ' ', '{', 'undefined', '\ufeff{}']) expect(tryParse(text)).toBeUndefined();
});

describe('bytes that may be UTF-8', () => {
  it('are the text that has exactly these bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = decodeUtf8(bytes);
        return text === undefined || Buffer.from(text).equals(bytes);
      }),
    );
    expect(decodeUtf8(Buffer.from('\ufeffé'))).toBe('\ufeffé');
  });

  it.each([[[0xff]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xe2, 0x82]]])(
    'are no text if they are %j',
    (bytes) => {
      expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
    },
  );
});

it('a value that is no object has no members', () => {
  for (const value of [undefined, null, 5, 'text']) expect(membersOf(value)).toEqual({});
  expect(membersOf({ a: 1 })).toEqual({ a: 1 });
});
