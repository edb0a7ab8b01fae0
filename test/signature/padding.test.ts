import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryVerify } from '../../src/devtools/diagnostics/try-verify.ts';
import { pinnedText } from '../../src/signature/serializations.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { defaultScheme, type SignatureScheme, schemeParts } from '../../src/signature/signature-scheme.ts';
import { readUnverifiedBody, verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex, orderKey } from '../support/bodies.ts';
import { refusal } from '../support/refusal.ts';
import { times } from '../support/repeat.ts';

const mark = '\uFEFF';
const options = { key: orderKey };
const under = (serialization: SignatureScheme['serialization']) => ({
  key: orderKey,
  scheme: { ...defaultScheme, serialization },
});

/** What encoders and editors write around a body. */
const paddings = [
  ['a line feed behind, as of Go', '', '\n'],
  ['a carriage return and a line feed behind', '', '\r\n'],
  ['a byte order mark before, as of .NET', mark, ''],
  ['a mark before and a line feed behind', mark, '\n'],
  ['every white space of JSON on both sides', ' \t\r\n', '\n\r\t '],
  ['a mark and a blank before', `${mark} `, ''],
] as const;

const json = '{"a":10.0,"b":"é\\/"}';

/** A body whose signature is over `signed`. */
function padded(before: string, signed: string, behind: string): string {
  return `${before}${json.slice(0, -1)},"signature":"${hmacHex(signed)}"}${behind}`;
}

describe.each(paddings)('a body with %s', (_, before, behind) => {
  const whole = `${before}${json}${behind}`;
  const signedTexts = new Set([json, whole, whole.replace(mark, '')]);

  it.each([...signedTexts].map((text) => [text]))('verifies when %j was signed, and says so', (signed) => {
    const sent = padded(before, signed, behind);
    for (const body of [sent, new TextEncoder().encode(sent)]) {
      expect(verifyBody(body, options)).toMatchObject({ text: signed, json, value: { a: 10, b: 'é/' } });
    }
  });

  it.each(schemeParts.serialization)('verifies under %s when the body alone was signed', (serialization) => {
    const { text } = signBody({ b: 2, a: [1, { d: 'x', c: null }] }, under(serialization));
    expect(verifyBody(`${before}${text}${behind}`, under(serialization)).value).toMatchObject({ b: 2 });
  });

  it('does not verify when another text was signed', () => {
    for (const signed of [`${json}  `, `${mark}${mark}${json}`, `  ${whole}`, '{}', '']) {
      expect(refusal(() => verifyBody(padded(before, signed, behind), options))).toBe(
        'SignatureError signature_mismatch',
      );
    }
  });
});

it('a body without anything around it verifies only when it alone was signed', () => {
  for (const signed of [`${json}\n`, `${mark}${json}`, ` ${json}`]) {
    expect(refusal(() => verifyBody(padded('', signed, ''), options))).toBe(
      'SignatureError signature_mismatch',
    );
  }
});

describe('what is no white space of JSON around a body is refused', () => {
  it.each([
    ['a no-break space before', '\u00a0', ''],
    ['a no-break space behind', '', '\u00a0'],
    ['a form feed', '\f', ''],
    ['a vertical tab behind a line feed', '', '\n\v'],
    ['a line separator', '', '\u2028'],
    ['a NUL, as a buffer of fixed length has', '', '\0'],
    ['two byte order marks', mark + mark, ''],
    ['a byte order mark behind white space', ` ${mark}`, ''],
    ['a byte order mark at the end', '', mark],
    ['a zero width space', '\u200b', ''],
  ])('%s', (_, before, behind) => {
    for (const signed of [json, `${before}${json}${behind}`]) {
      expect(refusal(() => verifyBody(padded(before, signed, behind), options))).toBe(
        'SignatureError body_not_json',
      );
    }
  });
});

describe('a signature that somebody has seen', () => {
  const anyPadding = fc.tuple(
    fc.constantFrom('', mark),
    fc.stringMatching(/^[ \t\r\n]{0,3}$/),
    fc.stringMatching(/^[ \t\r\n]{0,3}$/),
  );
  const piece = fc.constantFrom(' ', '\n', mark, '\t', ',', '0', '"', '{}', '\u00a0', '"a":1,');
  const anyText = fc.constantFrom(
    'as-sent',
    'base64',
    'minified',
    'minified-sorted',
    'sorted',
    'python',
  ) as fc.Arbitrary<SignatureScheme['serialization']>;

  it('verifies no body of another value or another identity, however the text is changed', () => {
    let verified = 0;
    fc.assert(
      fc.property(
        anyText,
        anyPadding,
        anyPadding,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), piece), { maxLength: 2 }),
        (serialization, [signedMark, signedBefore, signedBehind], [sentMark, before, behind], changes) => {
          const { key, scheme } = under(serialization);
          const keepsPadding = serialization === 'as-sent' || serialization === 'base64';
          const text = keepsPadding
            ? `${signedMark}${signedBefore}${json}${signedBehind}`
            : readUnverifiedBody(padded('', '', ''), scheme).text;
          const signed = serialization === 'base64' ? Buffer.from(text).toString('base64') : text;
          const genuine = keepsPadding
            ? padded(signedMark + signedBefore, signed, signedBehind)
            : padded('', signed, '');
          const identity = identityOf(genuine, scheme);
          expect(tryVerify(genuine, [key], scheme).refusal).toBeUndefined();
          let changed = `${sentMark}${before}${genuine.trim()}${behind}`;
          for (const [place, removed, added] of changes) {
            const at = place % (changed.length + 1);
            changed = changed.slice(0, at) + added + changed.slice(at + removed);
          }
          const { refusal: refused, value } = tryVerify(changed, [key], scheme);
          if (refused !== undefined) return;
          verified++;
          expect(value).toEqual(verifyBody(genuine, { key, scheme }).value);
          expect(identityOf(changed, scheme)).toBe(identity);
        },
      ),
      { seed: 46, numRuns: times(1_000, 10_000) },
    );
    expect(verified).toBeGreaterThan(100);
  });

  function identityOf(body: string, scheme: SignatureScheme): string {
    return pinnedText(scheme, readUnverifiedBody(body, scheme));
  }
});
