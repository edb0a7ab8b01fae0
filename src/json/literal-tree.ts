/**
 * A parsed JSON text that keeps how its numbers were spelled, the order of its members, and repeated members. A
 * `literal` is a number, `true`, `false` or `null`, as the text spells it.
 */
export type LiteralNode =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'array'; readonly elements: readonly LiteralNode[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: LiteralNode])[] };

/**
 * Reads a text that `JSON.parse` has accepted. Recursive: throws `RangeError` when it is nested too deeply for the call
 * stack.
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
