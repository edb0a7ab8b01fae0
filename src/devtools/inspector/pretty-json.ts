import { tryParse } from '../../internal/json.ts';
import { isNumber, jsonTokens } from '../../internal/json-tokens.ts';

interface PrettyToken {
  readonly kind: 'name' | 'string' | 'number' | 'literal' | 'plain';
  readonly text: string;
}

/** Adds line breaks to JSON, and keeps the spelling of its tokens. `undefined` for other text. */
export function prettyJson(text: string): PrettyToken[] | undefined {
  if (tryParse(text) === undefined) return undefined;
  const pieces: PrettyToken[] = [];
  const plain = (added: string) => pieces.push({ kind: 'plain', text: added });
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, 40))}`;
  const tokens = [...jsonTokens(text)].filter(({ kind }) => kind !== 'space');
  for (const [index, { kind, text }] of tokens.entries()) {
    const next = tokens[index + 1]?.text;
    if (text === '{' || text === '[') {
      depth += 1;
      plain(next === '}' || next === ']' ? text : text + line());
    } else if (text === '}' || text === ']') {
      depth -= 1;
      const previous = tokens[index - 1]?.text;
      plain(previous === '{' || previous === '[' ? text : line() + text);
    } else if (text === ',') plain(`,${line()}`);
    else if (text === ':') plain(': ');
    else if (kind === 'string') pieces.push({ kind: next === ':' ? 'name' : 'string', text });
    else pieces.push({ kind: isNumber(text) ? 'number' : 'literal', text });
  }
  return pieces;
}
