import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeError } from '../../src/redaction/describe-error.ts';

it.each([
  [
    'connect postgres://app:s3cret@db:5432/orders failed',
    'connect postgres://[redacted]@db:5432/orders failed',
  ],
  ['redis://:s3cret@cache', 'redis://[redacted]@cache'],
  ['amqp://app:s3cr@et@queue/x', 'amqp://[redacted]@queue/x'],
  [
    'GET https://m.example/send?api_key=s3cret&to=1 404',
    'GET https://m.example/send?api_key=[redacted]&to=[redacted] 404',
  ],
  ['{"authorization":"Bearer s3cret"}', '{"authorization":"[redacted]"}'],
  ['basic s3cret', 'basic [redacted]'],
  ['no such order // see a@b.example', 'no such order // see a@b.example'],
  ['is it paid? no & never', 'is it paid? no & never'],
])('keeps of %j no credentials', (message, kept) => {
  expect(describeError(new Error(message))).toBe(`Error: ${kept}`);
});

it.each<[unknown, string]>([
  ['down', 'down'],
  [undefined, 'undefined'],
  [null, 'null'],
  [503, '503'],
  [{ toString: () => 'down' }, 'down'],
  [Object.create(null), 'something that cannot be printed'],
])('keeps the text of something thrown that is no Error', (thrown, kept) => {
  expect(describeError(thrown)).toBe(kept);
});

it('keeps no more than 500 characters, in linear time, whatever is thrown', () => {
  for (const text of ['/', '//', '@', '?', '?a', '&a=', 'bearer ']) {
    const begun = performance.now();
    expect(describeError(text.repeat(2_000_000)).length).toBeLessThanOrEqual(500);
    expect(performance.now() - begun).toBeLessThan(1_000);
  }
  fc.assert(fc.property(fc.anything(), (thrown) => describeError(thrown).length <= 500));
});
