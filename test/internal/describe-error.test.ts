import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyError } from '../../src/errors/errors.ts';
import { describeError, driverError, redactError } from '../../src/internal/driver-error.ts';
import { timeOf } from '../support/timing.ts';

it.each([
  ['connect postgres://app:s3cret@db:5432/orders failed', '[redacted]'],
  ['amqp://app:s3cr@et@queue/x', '[redacted]'],
  ['cannot reach app:s3cret@queue', '[redacted]'],
  [
    'GET https://m.example/send?api_key=s3cret&to=1 404',
    'GET https://m.example/send?api_key=[redacted]&to=[redacted] 404',
  ],
  ['{"authorization":"Bearer s3cret"}', '{"authorization":"[redacted]"}'],
  ['basic s3cret', 'basic [redacted]'],
  ['no such order // see a@b.example', 'no such order // see a@b.example'],
  ['is it paid? no & never', 'is it paid? no & never'],
])('describeError keeps of %j no credentials', (message, kept) => {
  expect(describeError(new Error(message))).toBe(`Error: ${kept}`);
});

it('describeError keeps the code of an error whose message is hidden', () => {
  const error = Object.assign(new TypeError('connect amqp://app:s3/cret@queue'), { code: 'ECONNREFUSED' });
  expect(describeError(error)).toBe('TypeError ECONNREFUSED: [redacted]');
  const shown = redactError(error, []);
  expect(shown).toMatchObject({ message: '[redacted]', name: 'TypeError', code: 'ECONNREFUSED' });
  expect(shown?.stack).toMatch(/^TypeError: \[redacted\]\n {4}at .*describe-error/);
});

it.each<[unknown, string]>([
  ['down', 'down'],
  [undefined, 'undefined'],
  [503, '503'],
  [{ toString: () => 'down' }, 'down'],
  [Object.create(null), 'something that cannot be printed'],
])('describeError keeps the text of something thrown that is no Error', (thrown, kept) => {
  expect(describeError(thrown)).toBe(kept);
});

it('describeError keeps no more than 500 characters, in linear time, whatever is thrown', () => {
  for (const text of ['/', '//', '@', '?', '?a', '&a=', 'bearer ']) {
    const long = text.repeat(2_000_000);
    expect(timeOf(() => describeError(long))).toBeLessThan(1_000);
    expect(describeError(long).length).toBeLessThanOrEqual(500);
  }
  fc.assert(fc.property(fc.anything(), (thrown) => describeError(thrown).length <= 500));
});

it('leaves a sentence of our own whole, and hides in a foreign one what its words call a key', () => {
  const sentence = 'It cannot be decrypted with the key "2026-11": the key is another one.';
  const ours = new KeyError('key_storage_invalid', sentence);
  expect(describeError(ours)).toBe(`KeyError: ${ours.message}`);
  expect(describeError(new Error('the key "api_key": s3cret was refused'))).not.toContain('s3cret');
});

describe("the error of a store's client", () => {
  it.each<[string, object, object]>([
    [
      'ioredis, with the arguments of its command',
      { name: 'ReplyError', command: { name: 'set', args: ['key', 's3cret'] } },
      { name: 'ReplyError', command: { name: 'set' } },
    ],
    [
      'PostgreSQL, with the values of a row',
      { severity: 'ERROR', code: '23505', detail: 'Key (body)=(s3cret)', where: 's3cret', table: 's3cret' },
      { code: '23505' },
    ],
    ['another client', { code: 'E_ROW', detail: 's3cret' }, { code: 'E_ROW' }],
  ])('of %s is copied without them, and stays as it is', (_, members, kept) => {
    const original = Object.assign(new Error('failed'), members);
    const before = structuredClone({ ...original });
    const shown = driverError(original);
    expect({ ...original }).toEqual(before);
    expect(shown).not.toBe(original);
    expect(shown).toMatchObject({ message: 'failed', stack: original.stack, ...kept });
    expect(inspect(shown, { depth: null, showHidden: true })).not.toContain('s3cret');
  });

  it('is passed on where it quotes nothing, and copied where its causes lead in a circle', () => {
    const circle = Object.assign(new Error('failed'), { detail: 's3cret' });
    circle.cause = circle;
    expect(inspect(driverError(circle), { depth: null })).not.toContain('s3cret');
    for (const error of [new Error('down'), 'down', undefined]) expect(driverError(error)).toBe(error);
  });
});
