import { stringEnd } from './json-scanner.ts';

/** A piece of a JSON text. A `word` is a number, `true`, `false` or `null`. */
export interface JsonToken {
  readonly kind: 'string' | 'word' | 'punctuation' | 'space';
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The tokens of a valid JSON text, in order and without gaps. Not recursive, so any depth is possible. */
export function* jsonTokens(text: string): Generator<JsonToken> {
  for (let start = 0; start < text.length; ) {
    const token = tokenAt(text, start);
    yield token;
    start = token.end;
  }
}

/** The token that begins at `start`, which is within the text. */
export function tokenAt(text: string, start: number): JsonToken {
  const kind = kindOf(text.charAt(start));
  const end = endOf(text, kind, start);
  return { kind, start, end, text: text.slice(start, end) };
}

function kindOf(first: string): JsonToken['kind'] {
  if (first === '"') return 'string';
  if (punctuation.includes(first)) return 'punctuation';
  return blanks.includes(first) ? 'space' : 'word';
}

const punctuation = '{}[],:';
const blanks = ' \n\r\t';

function endOf(text: string, kind: JsonToken['kind'], start: number): number {
  if (kind === 'string') return stringEnd(text, start);
  let end = start + 1;
  if (kind === 'punctuation') return end;
  while (end < text.length && kindOf(text.charAt(end)) === kind) end++;
  return end;
}

export function isNumber(word: string): boolean {
  const first = word.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}
