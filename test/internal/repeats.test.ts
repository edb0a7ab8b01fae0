import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactReply, repeatsOf } from '../../src/internal/repeats.ts';
import { growth, timeOf, wellBelowQuadratic } from '../support/timing.ts';

const key = 'API-X-51e0c2/Qw+9';
const phone = '2348012345678';

type Spelling = (text: string) => string;

const bytesOf = (text: string) => [...Buffer.from(text)];
const base64: Spelling = (text) => Buffer.from(text).toString('base64');
const base64url: Spelling = (text) => Buffer.from(text).toString('base64url');
const hex: Spelling = (text) => Buffer.from(text).toString('hex');
const percent: Spelling = (text) =>
  bytesOf(text)
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
const entities: Spelling = (text) => [...text].map((one) => `&#${one.codePointAt(0)};`).join('');
const hexEntities: Spelling = (text) =>
  [...text].map((one) => `&#x${one.codePointAt(0)?.toString(16)};`).join('');
const unicodeEscapes: Spelling = (text) =>
  Array.from({ length: text.length }, (_, unit) => text.charCodeAt(unit))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const form: Spelling = (text) => new URLSearchParams({ '': text }).toString().slice(1);
const html: Spelling = (text) =>
  text.replace(
    /[&<>"']/g,
    (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? '&#39;',
  );

/** As a service may write a text that it got. */
const written: readonly Spelling[] = [(text) => text, json, encodeURIComponent, form];
const encoded: readonly Spelling[] = [
  (text) => text,
  base64,
  base64url,
  hex,
  (text) => hex(text).toUpperCase(),
  (text) => base64(`a:${text}`),
  (text) => base64(`ab:${text}.`),
];
const escaped: readonly Spelling[] = [
  percent,
  encodeURIComponent,
  entities,
  hexEntities,
  unicodeEscapes,
  json,
  html,
];
const cased: readonly Spelling[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
];
const unicode: readonly Spelling[] = [
  (text) => text.normalize('NFC'),
  (text) => text.normalize('NFD'),
  (text) => [...text].join('\u200b'),
];

/** A random stack of encodings, from the inside to the outside. */
const stacks = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom(...cased), fc.constantFrom(...unicode)),
      fc.tuple(fc.constantFrom(...written), fc.constantFrom(...encoded)),
    ),
    fc.array(fc.constantFrom(...escaped), { maxLength: 3 }),
  )
  .map(([inner, layers]) => [...inner, ...layers]);

const spell = (text: string, stack: readonly Spelling[]) => stack.reduce((made, layer) => layer(made), text);

describe('a text repeats a key that it holds', () => {
  it.each<[spelling: string, text: string]>([
    ['as it is', key],
    ['in lower case', key.toLowerCase()],
    ['in upper case', key.toUpperCase()],
    ['in base64', base64(key)],
    ['in base64 in lower case', base64(key).toLowerCase()],
    ['in base64 without padding', base64(key).replace(/=+$/, '')],
    ['in base64url', base64url(key)],
    ['in base64, as the password of Basic authorization', base64(`a:${key}`)],
    ['in base64, as a later part of a text', base64(`ab:${key}.`)],
    ['in hex', hex(key)],
    ['percent-encoded where it must be', encodeURIComponent(key)],
    ['percent-encoded whole', percent(key)],
    ['percent-encoded twice', encodeURIComponent(percent(key))],
    ['in entities', entities(key)],
    ['in hexadecimal entities', hexEntities(key)],
    ['in entities inside JSON', JSON.stringify(entities(key))],
    ['in escapes of JSON', unicodeEscapes(key)],
    ['with invisible characters between', [...key].join('\u200b')],
    [
      'in full-width letters',
      [...key].map((one) => String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfee0)).join(''),
    ],
  ])('%s', (_, text) => {
    expect(repeatsOf([key])(`no use for "${text}" here`)).toBe(true);
  });

  it('whatever the secret, the stack of its encodings, and the text around it', () => {
    const secrets = fc.string({
      unit: fc.constantFrom(...'aBcXyZ0189-_+/=.:{}", \n@éßŁ日'),
      minLength: 8,
      maxLength: 60,
    });
    fc.assert(
      fc.property(secrets, stacks, fc.string(), (secret, stack, around) => {
        // A short word is found in its own case only.
        fc.pre(/[a-z]/i.test(secret) && !/^\p{L}{1,11}$/u.test(secret));
        expect(repeatsOf([secret])(`${around} ${spell(secret, stack)} ${around}`)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('also where the key itself looks like escapes', () => {
    const keys = fc.string({
      unit: fc.constantFrom(...'aBcXyZ0189-_+/=.%&;\\'),
      minLength: 12,
      maxLength: 60,
    });
    const spellings = fc.constantFrom(...cased, ...written, base64, base64url, hex, percent, entities);
    fc.assert(
      fc.property(keys, spellings, fc.string(), (secret, spelling, around) => {
        fc.pre(/[a-z]/i.test(secret));
        expect(repeatsOf([secret])(`${around} ${spelling(secret)} ${around}`)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('and not an ordinary word that is one in other case', () => {
    const repeats = repeatsOf(['NOT']);
    expect(repeats('it is not sent')).toBe(false);
    expect(repeats('it is NOT sent')).toBe(true);
  });
});

describe("a text repeats a person's name", () => {
  const repeats = repeatsOf([], ['Ọlárìnwá']);

  it.each(['Ọlárìnwá', 'ọLÁRÌNWÁ', 'Ọlárìnwá'.normalize('NFD'), 'Olarinwa', entities('ỌLÁRÌNWÁ')])(
    'as the word %s',
    (name) => {
      expect(repeats(`the account of ${name}, blocked`)).toBe(true);
    },
  );

  it('and not as a part of a word', () => {
    expect(repeats('the account of Ọlárìnwátón')).toBe(false);
  });
});

describe("a text repeats a recipient's number", () => {
  const inScript = (zero: number) => (text: string) =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

  it.each([
    '+2348012345678',
    '2348012345678',
    '+234 801 234 5678',
    '+234-801-234-5678',
    '+234 (0)801.234.56.78',
    '0801 234 5678',
    '(0801) 234/5678',
    '801\u00a0234\u20115678',
    '+234%20801%20234%205678',
    '234&nbsp;801&#8209;234&#x2d;5678',
    percent('+2348012345678'),
    '<b>801</b> <i>234</i> <u>5678</u>',
    '2, 3, 4, 5, 6, 7, 8',
    inScript(0x0660)('0801 234 5678'),
    inScript(0x0966)('2348012345678'),
    inScript(0xff10)('+2348012345678'),
    inScript(0x1d7ce)('2348012345678'),
    '2\u200b3\u200b4\u200b5\u200b6\u200b7\u200b8',
  ])('as %s', (number) => {
    expect(repeatsOf([phone])(`no account for ${number}!`)).toBe(true);
  });

  it('whatever stands between its digits, in every script', () => {
    const scripts = [0x30, 0x660, 0x6f0, 0x966, 0xe50, 0xff10, 0x1d7ce];
    const between = fc.string({
      unit: fc.constantFrom(...' .-_()/[]{},:;*#\u00a0\u200b\u2011\u202a'),
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        fc.array(fc.nat(9), { minLength: 10, maxLength: 15 }),
        fc.array(fc.tuple(between, fc.constantFrom(...scripts)), { minLength: 15, maxLength: 15 }),
        (digits, ways) => {
          const number = digits
            .map((digit, place) => {
              const [gap, zero] = ways[place] ?? ['', 0x30];
              return gap + String.fromCodePoint(zero + digit);
            })
            .join('');
          expect(repeatsOf([digits.join('')])(`no account for ${number}`)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('and a code with blanks between', () => {
    const repeats = repeatsOf(['493021']);
    for (const code of ['493 021', '4-9-3-0-2-1']) expect(repeats(`blocked: ${code}`)).toBe(true);
  });

  it('and not other numbers', () => {
    const text = 'status 422 at 2026-10-05T10:00:00Z, try in 2345 s, see 8012345';
    expect(repeatsOf([phone])(text)).toBe(false);
  });
});

describe('the question whether a text repeats a secret', () => {
  it('takes any text and any secret', () => {
    const repeats = repeatsOf([key, phone, '', '\ud800']);
    for (const text of ['', '%ff%e0%80', '&#99999999;', '\\u', '\\']) expect(repeats(text)).toBe(false);
    expect(repeats('\ud800')).toBe(true);
  });

  it('is answered with no where nothing is repeated', () => {
    const repeats = repeatsOf([key, phone], ['Lovelace']);
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => !repeats(text)));
    fc.assert(fc.property(fc.lorem({ maxCount: 10 }), stacks, (text, stack) => !repeats(spell(text, stack))));
  });

  const parts = ['%', '%41', '%25', '&#', '&#50;', '&amp;', '&', '\\', '\\u', '\\u0032', '2', '234567'];
  it.each([...parts, '\u0662', '\u200b', 'é', 'a\u0301\u0316', '\u0301\u0316', 'Q'])(
    'takes time in proportion to a text of %j',
    (part) => {
      const repeats = repeatsOf([key, phone, 'Your code is 493021', '493021'], ['Lovelace']);
      const repeated = (size: number) => part.repeat(size / part.length);
      expect(timeOf(() => repeats(repeated(256 * 1024)))).toBeLessThan(2_000);
      expect(growth(repeated, repeats)).toBeLessThan(wellBelowQuadratic);
    },
  );

  it('takes no time to speak of for a secret of a megabyte, such as a long text of an order', () => {
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
      deep: { code: '4 9 3 0 2 1' },
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
