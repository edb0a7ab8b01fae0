import type { JsonValue } from '../internal/json.ts';
import { type LiteralMember, type LiteralNode, readLiteralTree } from '../internal/json-tree.ts';

export function writeSorted(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // An object built in sorted order would still list integer-like names first.
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${writeSorted(member)}`);
  }
  return `{${members.join(',')}}`;
}

type Order = (one: LiteralMember, other: LiteralMember) => number;

/** How a serializer of another language writes JSON. */
interface Style {
  readonly comma: string;
  readonly colon: string;
  /** Writes a string or a name. `spelling` is that of the text which was read. */
  readonly quote: (text: string, spelling: string) => string;
  readonly order?: Order;
}

const compactStyle: Style = { comma: ',', colon: ':', quote: (text) => JSON.stringify(text) };
export const minifiedStyle: Style = { comma: ',', colon: ':', quote: (_, spelling) => spelling };
export const pythonStyle: Style = { comma: ', ', colon: ': ', quote: (text) => quoteAscii(text, 0x7f) };
export const phpStyle: Style = {
  comma: ',',
  colon: ':',
  quote: (text) => quoteAscii(text, 0x80).replaceAll('/', '\\/'),
};

export function writeNode(node: LiteralNode, style: Style): string {
  switch (node.kind) {
    case 'literal':
      return node.text;
    case 'text':
      return style.quote(node.text, node.spelling);
    case 'array':
      return `[${node.elements.map((element) => writeNode(element, style)).join(style.comma)}]`;
    case 'object': {
      const members = style.order ? lastOfEach(node.members).sort(style.order) : node.members;
      const written = members.map(
        ([name, member, spelling]) => style.quote(name, spelling) + style.colon + writeNode(member, style),
      );
      return `{${written.join(style.comma)}}`;
    }
  }
}

/** Without JSON's quotes, for joined values and queries. */
export function writePlain(node: LiteralNode): string {
  if (node.kind === 'text') return node.text;
  return node.kind === 'literal' && node.text === 'null' ? '' : writeNode(node, compactStyle);
}

/** Each name of the outermost object once, in code unit order; none if it is not an object. */
export function topMembers(json: string): readonly LiteralMember[] {
  const tree = readLiteralTree(json);
  return tree.kind === 'object' ? lastOfEach(tree.members).sort(byCodeUnit) : [];
}

/** The last member of each name counts, as in JSON.parse. */
function lastOfEach(members: readonly LiteralMember[]): LiteralMember[] {
  return [...new Map(members.map((member) => [member[0], member])).values()];
}

/** Both names differ, here and in `byCodePoint`: `lastOfEach` leaves each one once. */
function byCodeUnit([one]: LiteralMember, [other]: LiteralMember): number {
  return one < other ? -1 : 1;
}

/** The order in which Python sorts. */
export function byCodePoint([one]: LiteralMember, [other]: LiteralMember): number {
  for (let index = 0; index < one.length; index++) {
    const [left = 0, right = -1] = [one.codePointAt(index), other.codePointAt(index)];
    if (left !== right) return left - right;
  }
  return -1;
}

/** A JSON string with every code unit from `from` on written as `\uXXXX`. */
function quoteAscii(text: string, from: number): string {
  const json = JSON.stringify(text);
  let quoted = '';
  let start = 0;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code < from) continue;
    quoted += `${json.slice(start, index)}\\u${code.toString(16).padStart(4, '0')}`;
    start = index + 1;
  }
  return quoted + json.slice(start);
}
