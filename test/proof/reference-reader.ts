/**
 * A reader of JSON texts written from the grammar of RFC 8259, apart from the code under test and from JSON.parse,
 * and a second opinion on where the members of the outermost object lie. Recursive: for texts nested a little.
 */

/** A member of the outermost object. */
export interface ReferenceMember {
  /** As it is meant, escapes resolved. */
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly value: unknown;
  readonly end: number;
}

export interface ReferenceText {
  readonly root: 'object' | 'array' | 'other';
  readonly value: unknown;
  /** Empty for a root that is not an object. */
  readonly members: readonly ReferenceMember[];
}

const space = /[\t\n\r ]*/y;
// From U+0020, without the quote and the backslash.
const string = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;
const other = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null/y;

const words = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class NotJson extends Error {}

/** What a text holds; `undefined` for one that is not JSON. */
export function readReference(text: string): ReferenceText | undefined {
  let at = 0;

  function take(token: RegExp): string {
    token.lastIndex = at;
    const [found] = token.exec(text) ?? [];
    if (found === undefined) throw new NotJson();
    at += found.length;
    return found;
  }

  function list<Item>(close: string, item: () => Item): Item[] {
    const items: Item[] = [];
    at++;
    take(space);
    if (text[at] !== close) {
      for (;;) {
        items.push(item());
        take(space);
        if (text[at] !== ',') break;
        at++;
        take(space);
      }
    }
    if (text[at] !== close) throw new NotJson();
    at++;
    return items;
  }

  function value(): unknown {
    if (text[at] === '{') return objectOf(list('}', member));
    if (text[at] === '[') return list(']', value);
    if (text[at] === '"') return meaning(take(string));
    const literal = take(other);
    return words.has(literal) ? words.get(literal) : Number(literal);
  }

  function member(): ReferenceMember {
    const start = at;
    const name = meaning(take(string));
    take(space);
    if (text[at] !== ':') throw new NotJson();
    at++;
    take(space);
    const valueStart = at;
    return { name, start, valueStart, value: value(), end: at };
  }

  try {
    take(space);
    const root = text[at] === '{' ? 'object' : text[at] === '[' ? 'array' : 'other';
    const members = root === 'object' ? list('}', member) : [];
    const read = root === 'object' ? objectOf(members) : value();
    take(space);
    return at === text.length ? { root, value: read, members } : undefined;
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

/** Of a repeated name the last one counts; `__proto__` is a name like any other. */
function objectOf(members: readonly ReferenceMember[]): object {
  return Object.fromEntries(members.map(({ name, value }) => [name, value]));
}

/** The top-level members that are called `signature`. */
export function signaturesIn({ members }: ReferenceText): readonly ReferenceMember[] {
  return members.filter(({ name }) => name === 'signature');
}

/**
 * A text without one of its members: from the end of the one before it to its own end; of the first, from its
 * beginning to that of the next; of the only one, with all that stands between the braces.
 */
export function without(text: string, { members }: ReferenceText, member: ReferenceMember): string {
  const index = members.indexOf(member);
  const [before, after] = [members[index - 1], members[index + 1]];
  if (before) return text.slice(0, before.end) + text.slice(member.end);
  if (after) return text.slice(0, member.start) + text.slice(after.start);
  return text.slice(0, text.indexOf('{') + 1) + text.slice(text.lastIndexOf('}'));
}

const shortEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function meaning(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\\(?:u(.{4})|(.))/g, (_, hex: string | undefined, short: string) =>
      hex === undefined ? (shortEscapes[short] ?? short) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
}
