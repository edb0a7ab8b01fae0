import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echoRedactor, redactEcho, redactReply } from '../../src/internal/redact-echo.ts';
import { timeOf } from '../support/timing.ts';

const key = 'API-X-51e0c2/Qw+9';
const phone = '2348012345678';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const entities = (text: string) => [...text].map((one) => `&#${one.codePointAt(0)};`).join('');
const hexEntities = (text: string) =>
  [...text].map((one) => `&#x${one.codePointAt(0)?.toString(16)};`).join('');
const unicodeEscapes = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe("a request's own key is not repeated", () => {
  it.each<[spelling: string, written: string]>([
    ['as it is', key],
    ['in lower case', key.toLowerCase()],
    ['in upper case', key.toUpperCase()],
    ['in base64', base64(key)],
    ['in base64 without padding', base64(key).replace(/=+$/, '')],
    ['in base64url', Buffer.from(key).toString('base64url')],
    ['in base64, as the password of Basic authorization', base64(`a:${key}`)],
    ['in base64, as a later part of a text', base64(`ab:${key}.`)],
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
  ])('%s', (_, written) => {
    const shown = redactEcho(`no use for "${written}" here`, [key]);
    expect(shown).toMatch(/^no use for ".{0,4}\[redacted\].{0,4}" here$/);
  });

  it('whatever the key, its spelling, and what stands around it', () => {
    const spellings = [
      (text: string) => text,
      (text: string) => text.toLowerCase(),
      (text: string) => text.toUpperCase(),
      base64,
      (text: string) => Buffer.from(text).toString('base64url'),
      encodeURIComponent,
      percent,
      entities,
      unicodeEscapes,
    ];
    const keys = fc.string({ unit: fc.constantFrom(...'aBcXyZ0189-_+/=.%&;'), minLength: 12, maxLength: 60 });
    fc.assert(
      fc.property(keys, fc.constantFrom(...spellings), fc.string(), (secret, spell, around) => {
        fc.pre(/[a-z]/i.test(secret));
        const written = spell(secret);
        const shown = redactEcho(`${around} ${written} ${around}`, [secret]);
        expect(shown).toContain('[redacted]');
        expect(shown.replaceAll(around, '')).not.toContain(written);
      }),
      { numRuns: 300 },
    );
  });

  it('and an ordinary word that is one in other case stays', () => {
    expect(redactEcho('it is not sent', ['NOT'])).toBe('it is not sent');
  });
});

describe("a recipient's number is not repeated", () => {
  const inScript = (zero: number) => (text: string) =>
    text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

  it.each<[written: string, shown: string]>([
    ['+2348012345678', '+[redacted]'],
    ['2348012345678', '[redacted]'],
    ['+234 801 234 5678', '+[redacted]'],
    ['+234-801-234-5678', '+[redacted]'],
    ['+234 (0)801.234.56.78', '+234 (0)[redacted]'],
    ['0801 234 5678', '0[redacted]'],
    ['(0801) 234/5678', '(0[redacted]'],
    ['801\u00a0234\u20115678', '[redacted]'],
    ['+234%20801%20234%205678', '+[redacted]'],
    ['234&nbsp;801&#8209;234&#x2d;5678', '[redacted]'],
    [percent('+2348012345678'), '%2b[redacted]'],
    ['<b>801</b> <i>234</i> <u>5678</u>', '<b>[redacted]</u>'],
    ['2, 3, 4, 5, 6, 7, 8', '[redacted]'],
    [inScript(0x0660)('0801 234 5678'), '٠[redacted]'],
    [inScript(0x0966)('2348012345678'), '[redacted]'],
    [inScript(0xff10)('+2348012345678'), '+[redacted]'],
    [inScript(0x1d7ce)('2348012345678'), '[redacted]'],
    ['2\u200b3\u200b4\u200b5\u200b6\u200b7\u200b8', '[redacted]'],
  ])('%s', (written, shown) => {
    expect(redactEcho(`no account for ${written}!`, [phone])).toBe(`no account for ${shown}!`);
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
          const written = digits
            .map((digit, place) => {
              const [gap, zero] = ways[place] ?? ['', 0x30];
              return gap + String.fromCodePoint(zero + digit);
            })
            .join('');
          const shown = redactEcho(`no account for ${written}`, [digits.join('')]);
          expect(shown).toMatch(/^no account for [^\p{Nd}]*\[redacted\]$/u);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('and a code is found with blanks between, too', () => {
    expect(redactEcho('blocked: 493 021, 4-9-3-0-2-1', ['493021'])).toBe('blocked: [redacted], [redacted]');
  });

  it('and other numbers stay', () => {
    const said = 'status 422 at 2026-10-05T10:00:00Z, try in 2345 s, see 8012345';
    expect(redactEcho(said, [phone])).toBe(said);
  });
});

describe('hiding what was asked', () => {
  it('takes anything', () => {
    for (const any of [undefined, null, 5, {}, '\ud800', '%ff%e0%80', '&#99999999;', '\\u', '\\']) {
      expect(redactEcho(any, [key, phone, '', '\ud800'])).toEqual(expect.any(String));
    }
  });

  it('changes nothing where nothing is repeated', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(redactEcho(text, [key, phone])).toBe(text);
      }),
    );
  });

  it('leaves no half of a secret at the end of a text that is too long', () => {
    for (let length = 14_300; length < 16_400; length += 7) {
      expect(redactEcho(`${'-'.repeat(length)}${key}${'-'.repeat(9_000)}`, [key])).not.toContain('API-X');
    }
  });

  it('takes time in proportion to the text, and no more beyond a length', () => {
    const secrets = [key, phone, 'Your code is 493021', '493021'];
    const parts = [
      '%',
      '%41',
      '&#',
      '&#50;',
      '&',
      '\\',
      '\\u',
      '\\u0032',
      '2',
      '2345678',
      '\u0662',
      '\u200b',
      'é',
      'Q',
    ];
    for (const part of parts) {
      const text = part.repeat(1_000_000 / part.length);
      expect(
        timeOf(() => redactEcho(text, secrets)),
        part,
      ).toBeLessThan(500);
    }
  });

  it('goes through a whole reply, names and numbers too', () => {
    const redact = echoRedactor([key, phone, '493021']);
    const reply = {
      text: `to ${phone}`,
      [key]: [493021, 2348012345678, 422, true, null],
      deep: { code: '4 9 3 0 2 1' },
    };
    expect(redactReply(reply, redact)).toEqual({
      text: 'to [redacted]',
      '[redacted]': ['[redacted]', '[redacted]', 422, true, null],
      deep: { code: '[redacted]' },
    });
    let nested: unknown = key;
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    expect(JSON.stringify(redactReply(nested, redact))).not.toContain(key);
  });
});
