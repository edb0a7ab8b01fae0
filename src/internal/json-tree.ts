import type { JsonValue } from './json.ts';
import { type JsonToken, tokenAt } from './json-tokens.ts';

/** A parsed JSON text that keeps the spelling of values (a `literal` is no string), their order, and repetitions. */
export type LiteralNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly spelling: string }
  | { readonly kind: 'array'; readonly elements: readonly LiteralNode[] }
  | { readonly kind: 'object'; readonly members: readonly LiteralMember[] };

export type LiteralMember = readonly [name: string, value: LiteralNode, spelling: string];

/**
 * Reads a text that `JSON.parse` has accepted.
 *
 * @throws {RangeError} when it is nested too deeply for the call stack
 */
export function readLiteralTree(text: string): LiteralNode {
  let end = 0;

  function next(): JsonToken {
    while (text.charCodeAt(end) <= 0x20) end++;
    if (end >= text.length) throw new SyntaxError('The text is not JSON.');
    const token = tokenAt(text, end);
    end = token.end;
    return token;
  }

  /** Up to the bracket that closes a list. */
  function readItems<Item>(close: string, readItem: (first: JsonToken) => Item): Item[] {
    const items: Item[] = [];
    for (let token = next(); token.text !== close; token = next()) {
      if (token.text !== ',') items.push(readItem(token));
    }
    return items;
  }

  function readMember(name: JsonToken): LiteralMember {
    next();
    return [stringValue(name.text), readValue(next()), name.text];
  }

  function readValue({ kind, text }: JsonToken): LiteralNode {
    if (text === '{') return { kind: 'object', members: readItems('}', readMember) };
    if (text === '[') return { kind: 'array', elements: readItems(']', readValue) };
    return kind === 'string'
      ? { kind: 'text', text: stringValue(text), spelling: text }
      : { kind: 'literal', text };
  }

  return readValue(next());
}

function stringValue(quoted: string): string {
  // JSON.parse returns a string for a JSON string.
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

/**
 * `JSON.parse`, guarded against a bug of V8 12.8 and later (nodejs/node#63785): an escaped member name may be read as
 * another name, which ends in a backslash and was in an earlier text. Anybody can send that earlier text, since
 * bodies are parsed before they are verified. So a value with a backslash in a name is parsed again by our own
 * reader.
 *
 * Remove this when every Node version in `engines` has the fix: `found-defects.test.ts` then skips its tests
 * everywhere.
 *
 * @throws {SyntaxError} as JSON.parse
 * @throws {RangeError} when our own reader is needed and the text is nested too deeply for the call stack
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!text.includes('\\') || !hasBackslashInName(value)) return value;
  return toValue(readLiteralTree(text));
}

function hasBackslashInName(value: unknown): boolean {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) {
      for (const element of next) if (isNested(element)) pending.push(element);
    } else if (isNested(next)) {
      // Object.entries of a large object takes as long as parsing it.
      for (const name in next) {
        if (name.includes('\\')) return true;
        if (isNested(next[name])) pending.push(next[name]);
      }
    }
  }
  return false;
}

function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function toValue(node: LiteralNode): JsonValue {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'literal':
      return JSON.parse(node.text) as JsonValue;
    case 'array':
      return node.elements.map(toValue);
    case 'object':
      return Object.fromEntries(node.members.map(([name, member]) => [name, toValue(member)]));
  }
}
