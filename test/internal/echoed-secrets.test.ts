import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactReply, repeatsOf } from '../../src/internal/echoed-secrets.ts';
import { codePoint } from '../support/any-text.ts';
import { timeOf } from '../support/timing.ts';

const key = 'API-X-51e0c2/Qw+9 "é"';
const phone = '2348012345678';

type Spelling = (text: string) => string;

const base64: Spelling = (text) => Buffer.from(text).toString('base64');
const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const query: Spelling = (text) => new URLSearchParams({ '': text }).toString().slice(1);

const spellings: readonly [string, Spelling][] = [
  ['as it is', (text) => text],
  ['JSON-escaped', json],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded, as a query', query],
  ['in base64', base64],
  ['in base64, as a password of Basic authorization', (text) => base64(`a:${text}`)],
  ['in base64, as a part of a text', (text) => base64(`text:${text}.`)],
];

describe('a text repeats a secret that it holds', () => {
  it.each(spellings)('%s', (_, spell) => {
    expect(repeatsOf([key])(`no use for "${spell(key)}" here`)).toBe(true);
  });

  it('whatever the secret and the text around it', () => {
    const around = fc.string();
    const secret = fc.string({ unit: codePoint, minLength: 6, maxLength: 60 });
    const spelling = fc.constantFrom(...spellings.map(([, spell]) => spell));
    fc.assert(
      fc.property(secret, spelling, around, (text, spell, rest) => {
        expect(repeatsOf([text])(`${rest} ${spell(text)} ${rest}`)).toBe(true);
      }),
    );
  });

  it.each(['493021', 'NOT'])('also a short one: %s', (code) => {
    expect(repeatsOf([code])(`blocked: ${code}`)).toBe(true);
  });
});

describe('a text repeats no secret', () => {
  it('where it has another text, in any spelling', () => {
    const repeats = repeatsOf([key, phone, '', '\ud800']);
    for (const text of ['', '%ff%e0%80', 'status 422 at 2026-10-05T10:00:00Z, see 8012345'])
      expect(repeats(text)).toBe(false);
    fc.assert(
      fc.property(fc.lorem({ maxCount: 10 }), (text) =>
        spellings.every(([, spell]) => !repeats(spell(text))),
      ),
    );
  });

  it('in no time to speak of, also of a megabyte such as a long text of an order', () => {
    const secret = 'long text '.repeat(100_000);
    expect(timeOf(() => repeatsOf([secret])('a refusal'))).toBeLessThan(3_000);
  });
});

describe('a reply without its secrets', () => {
  const repeats = repeatsOf([key, phone, '493021']);
  const redact = (text: string) => (repeats(text) ? '[redacted]' : text);

  it('lacks them in texts, names and numbers, at any depth', () => {
    const reply = {
      text: `to ${phone}`,
      [key]: [493021, 2348012345678, 422, true, null],
      deep: { code: 'is 493021' },
    };
    expect(redactReply(reply, redact)).toEqual({
      text: '[redacted]',
      '[redacted]': ['[redacted]', '[redacted]', 422, true, null],
      deep: { code: '[redacted]' },
    });
  });

  it('has bounds', () => {
    let nested: unknown = key;
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    expect(JSON.stringify(redactReply(nested, redact))).not.toContain(key);
  });
});
