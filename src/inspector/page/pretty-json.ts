export interface Token {
  readonly kind: 'name' | 'string' | 'number' | 'literal' | 'plain';
  readonly text: string;
}

/**
 * JSON with line breaks, token by token: numbers, escapes and order stay as they were written, which parsing and
 * writing would lose. `undefined` for what is no JSON.
 */
export function prettyJson(text: string): Token[] | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens: Token[] = [];
  const plain = (added: string) => tokens.push({ kind: 'plain', text: added });
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, 40))}`;
  const all = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)].map(([token]) => token);
  for (const [index, token] of all.entries()) {
    const next = all[index + 1];
    if (token === '{' || token === '[') {
      depth += 1;
      plain(next === '}' || next === ']' ? token : token + line());
    } else if (token === '}' || token === ']') {
      depth -= 1;
      const before = all[index - 1];
      plain(before === '{' || before === '[' ? token : line() + token);
    } else if (token === ',') plain(`,${line()}`);
    else if (token === ':') plain(': ');
    else if (token.startsWith('"')) tokens.push({ kind: next === ':' ? 'name' : 'string', text: token });
    else tokens.push({ kind: /^[-\d]/.test(token) ? 'number' : 'literal', text: token });
  }
  return tokens;
}
