import { received, sampleKey, sampleText, signFirst, signText } from './sample-event.ts';

/**
 * Signed bodies of about a given size, by what they are made of: honest ones, and ones made to keep a scanner
 * busy. All are JSON, and all have a right signature: a wrong one would not take longer.
 */
export function largeTexts(size: number): Readonly<Record<string, string>> {
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
