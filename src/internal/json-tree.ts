import type { JsonValue } from './json.ts';

/**
 * A parsed JSON text that keeps the spelling of numbers, the order of members, and repeated members. A `literal` is a
 * number, `true`, `false` or `null`, as it was spelled.
 */
export type LiteralNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'array'; readonly elements: readonly LiteralNode[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: LiteralNode])[] };

/**
 * Reads a text that `JSON.parse` has accepted. @throws {RangeError} when it is nested too deeply for the call stack
 */
export function readLiteralTree(text: string): LiteralNode {
  let index = 0;

  function readValue(): LiteralNode {
    skipSpace();
    switch (text[index]) {
      case '{':
        return { kind: 'object', members: readList('}', readMember) };
      case '[':
        return { kind: 'array', elements: readList(']', readValue) };
      case '"':
        return { kind: 'text', text: readString() };
      default:
        return { kind: 'literal', text: readLiteral() };
    }
  }

  function readMember(): readonly [string, LiteralNode] {
    skipSpace();
    const name = readString();
    skipSpace();
    index++;
    return [name, readValue()];
  }

  function readList<Item>(close: string, readItem: () => Item): Item[] {
    const items: Item[] = [];
    index++;
    skipSpace();
    while (index < text.length && text[index] !== close) {
      const before = index;
      items.push(readItem());
      skipSpace();
      if (text[index] === ',') index++;
      // Not JSON after all. Without progress the loop would never end.
      if (index === before) throw new SyntaxError('The text is not JSON.');
    }
    index++;
    return items;
  }

  function readString(): string {
    const start = index++;
    while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
    index++;
    const slice = text.slice(start, index);
    // JSON.parse returns a string for a JSON string.
    return slice.includes('\\') ? String(JSON.parse(slice)) : slice.slice(1, -1);
  }

  function readLiteral(): string {
    const start = index;
    while (index < text.length && !',]} \n\r\t'.includes(text.charAt(index))) index++;
    return text.slice(start, index);
  }

  function skipSpace(): void {
    while (text.charCodeAt(index) <= 0x20) index++;
  }

  return readValue();
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
