/** A piece of a JSON text. A `word` is a number, `true`, `false` or `null`. */
export interface JsonToken {
  readonly kind: 'string' | 'word' | 'punctuation' | 'space';
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The tokens of a JSON text that `JSON.parse` has accepted, in order and without gaps. Not recursive, so depth does not
 * matter.
 */
export function* jsonTokens(text: string): Generator<JsonToken> {
  for (let start = 0; start < text.length; ) {
    const kind = kindOf(text.charAt(start));
    const end = endOf(text, kind, start);
    yield { kind, start, end, text: text.slice(start, end) };
    start = end;
  }
}

function kindOf(first: string): JsonToken['kind'] {
  if (first === '"') return 'string';
  if (punctuation.includes(first)) return 'punctuation';
  return blanks.includes(first) ? 'space' : 'word';
}

const punctuation = '{}[],:';
const blanks = ' \n\r\t';

function endOf(text: string, kind: JsonToken['kind'], start: number): number {
  let end = start + 1;
  switch (kind) {
    case 'punctuation':
      return end;
    case 'string':
      while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
      return end + 1;
    default:
      while (end < text.length && kindOf(text.charAt(end)) === kind) end++;
      return end;
  }
}
