import type { JsonValue } from './json-value.ts';
import { type LiteralNode, readLiteralTree } from './literal-tree.ts';

/**
 * `JSON.parse`, guarded against a bug of V8 12.8 and later (nodejs/node#63785): an escaped member name may be read as a
 * different name, one that ends in a backslash and was in an earlier text. Bodies are parsed before they are verified,
 * so anybody can send that earlier text. So a value that has a backslash in a name is parsed again by our own reader.
 *
 * Remove this guard and use `JSON.parse` when every Node version in `engines` has the fix. Then the tests in
 * `found-defects.test.ts` that run only where the engine misreads are skipped everywhere.
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
      // A literal is a number, true, false or null.
      return JSON.parse(node.text) as JsonValue;
    case 'array':
      return node.elements.map(toValue);
    case 'object':
      return Object.fromEntries(node.members.map(([name, member]) => [name, toValue(member)]));
  }
}
