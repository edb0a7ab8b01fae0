import { createHash } from 'node:crypto';
import { verifyBody } from './built-entries.ts';
import { ratio, timeInTurns } from './measure.ts';
import type { Finding } from './report.ts';
import { received, sampleKey, sampleText, signFirst, signText } from './sample-event.ts';

const small = 256 * 1024;
const large = 1024 * 1024;
const sampling = { rounds: 25, warmup: 5, batch: 1 };

/** Verify bodies of 1 MiB, and of a quarter of it, against a hash and a parse of the same text. */
export function benchLarge(): Finding[] {
  const findings: Finding[] = [];
  const smallTexts = largeTexts(small);
  for (const [name, text] of Object.entries(largeTexts(large))) {
    const smallText = smallTexts[name] ?? '';
    const timings = timeInTurns(
      {
        large: () => verifyBody(text, { key: sampleKey }),
        'large baseline': () => hashAndParse(text),
        small: () => verifyBody(smallText, { key: sampleKey }),
        'small baseline': () => hashAndParse(smallText),
      },
      sampling,
    );
    findings.push({
      what: name,
      measured: ratio(timings.large, timings['large baseline']),
      atMost: 1.6,
    });
    // 1 for linear work, 4 for quadratic. What the hash and the parser lose on a larger text is not ours.
    findings.push({
      what: '  its growth from 256 KiB',
      measured: ratio(
        quotients(timings.large, timings['large baseline']),
        quotients(timings.small, timings['small baseline']),
      ),
      atMost: 1.5,
    });
  }
  return findings;
}

function quotients(of: readonly number[], by: readonly number[]): number[] {
  return of.map((time, round) => time / (by[round] ?? Number.NaN));
}

function hashAndParse(text: string): unknown {
  return [createHash('sha512').update(text).digest('hex'), JSON.parse(text)];
}

/**
 * Signed bodies of about a given size, by what they are made of: honest ones, and ones made to keep a scanner
 * busy. All are JSON, and all have a right signature: a wrong one would not take longer.
 */
function largeTexts(size: number): Readonly<Record<string, string>> {
  const fill = (piece: string) => piece.repeat(Math.floor(size / piece.length));
  const list = (piece: string) => fill(`${piece},`).slice(0, -1);
  const members = (member: (index: number) => string) => {
    const count = Math.floor(size / member(100_000).length);
    return Array.from({ length: count }, (_, index) => member(index)).join('');
  };
  const half = Math.floor(size / 2);
  const unsigned = {
    'honest: order events': `{"orders":[${list(sampleText)}]}`,
    'honest: one long string': `{"note":"${fill('The quick brown fox. ')}"}`,
    'nested brackets, deep': `{"a":${'['.repeat(half)}${']'.repeat(half)}}`,
    'nested brackets, many': `{"a":[${list('[[[[{"b":[[]]}]]]]')}]}`,
    'escaped quotes': `{"a":"${fill('\\"')}"}`,
    backslashes: `{"a":"${fill('\\\\')}"}`,
    'unicode escapes': `{"a":"${fill('\\u0022')}"}`,
    'white space': `{${fill(' \n\t')}"a":1}`,
    'nested "signature" members': `{"a":[${list('{"signature":"x"}')}]}`,
    '"signature" in strings': `{"a":[${list('"{\\"signature\\":1}"')}]}`,
    'many members': `{"a":1${members((index) => `,"k${index}":${index}`)}}`,
    'many escaped members': `{"a":1${members((index) => `,"\\u0073ignatur${index}":0`)}}`,
  };
  return {
    ...Object.fromEntries(Object.entries(unsigned).map(([name, text]) => [name, signText(text, sampleKey)])),
    // Where the member has to be looked for.
    ...Object.fromEntries(
      (['honest: order events', 'honest: one long string', 'escaped quotes', 'backslashes'] as const).map(
        (name) => [`${name}, signature first`, signFirst(unsigned[name], sampleKey)],
      ),
    ),
    // Goes with the signature, so it is not signed.
    'white space before the signature': received(
      signText('{"a":1}', sampleKey).replace(',', `${fill(' \n\t')},`),
    ),
  };
}
