import type { SignatureScheme } from './signature-scheme.ts';
import { SignatureError } from '../errors/signature-error.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { type LiteralNode, readLiteralTree } from '../json/literal-tree.ts';

/** A body in both of its forms. */
export interface BodyForms {
  /** Its own text without the top-level `signature`. */
  readonly excised: string;
  /** The whole parsed body. */
  readonly value: JsonObject;
}

/**
 * The text that a scheme signs. @throws {SignatureError} `body_too_deep` for a body that cannot be serialised again
 */
export function canonicalText(scheme: SignatureScheme, body: BodyForms): string {
  if (scheme.serialization === 'as-sent') return body.excised;
  try {
    const text = serialize(scheme, body);
    // Two texts that are not well-formed Unicode may have the same digest.
    if (text.isWellFormed()) return text;
  } catch (error) {
    // Serialising is recursive, in the engine too: a text nested beyond its call stack has a typed outcome.
    if (!(error instanceof RangeError)) throw error;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be serialised again.');
  }
  throw new SignatureError('body_not_utf8', 'The body has half of a surrogate pair: it has no UTF-8 text.');
}

function serialize({ serialization, joiner = '' }: SignatureScheme, { excised, value }: BodyForms): string {
  switch (serialization) {
    case 'as-sent':
      return excised;
    case 'compact':
      return JSON.stringify(unsigned(value));
    case 'sorted':
      return writeSorted(unsigned(value));
    case 'sorted-shallow':
      return writeSorted(unsigned(value), JSON.stringify);
    case 'python':
      return write(readLiteralTree(excised), pythonStyle);
    case 'python-sorted':
      return write(readLiteralTree(excised), { ...pythonStyle, order: byCodePoint });
    case 'php':
      return write(readLiteralTree(excised), phpStyle);
    case 'values':
      return topMembers(excised, byCodeUnit)
        .map(([, node]) => plain(node))
        .join(joiner);
    case 'values-as-sent':
      return topMembers(excised)
        .map(([, node]) => plain(node))
        .join(joiner);
    case 'query':
      return topMembers(excised, byCodeUnit)
        .map(([name, node]) => `${name}=${plain(node)}`)
        .join('&');
    case 'base64':
      return Buffer.from(excised).toString('base64');
    case 'base64-compact':
      return Buffer.from(JSON.stringify(unsigned(value))).toString('base64');
    case 'base64-sorted':
      return Buffer.from(writeSorted(unsigned(value))).toString('base64');
  }
}

function unsigned({ signature: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function writeSorted(value: JsonValue, writeMember: (member: JsonValue) => string = writeSorted): string {
  if (Array.isArray(value)) return `[${value.map((element) => writeSorted(element)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Written by hand: an object with its members set in order would still list integer-like names first.
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${writeMember(member)}`);
  }
  return `{${members.join(',')}}`;
}

type Member = readonly [name: string, value: LiteralNode];
type Order = (one: Member, other: Member) => number;

/** How a serializer of another language writes JSON. */
interface Style {
  readonly comma: string;
  readonly colon: string;
  readonly quote: (text: string) => string;
  readonly order?: Order;
}

const compactStyle: Style = { comma: ',', colon: ':', quote: (text) => JSON.stringify(text) };
const pythonStyle: Style = { comma: ', ', colon: ': ', quote: (text) => quoteAscii(text, 0x7f) };
const phpStyle: Style = {
  comma: ',',
  colon: ':',
  quote: (text) => quoteAscii(text, 0x80).replaceAll('/', '\\/'),
};

function write(node: LiteralNode, style: Style): string {
  switch (node.kind) {
    case 'literal':
      return node.text;
    case 'text':
      return style.quote(node.text);
    case 'array':
      return `[${node.elements.map((element) => write(element, style)).join(style.comma)}]`;
    case 'object': {
      const members = style.order ? lastOfEach(node.members).sort(style.order) : node.members;
      const written = members.map(([name, member]) => style.quote(name) + style.colon + write(member, style));
      return `{${written.join(style.comma)}}`;
    }
  }
}

/** A value without the quotes of JSON, as joins and queries take it. */
function plain(node: LiteralNode): string {
  if (node.kind === 'text') return node.text;
  return node.kind === 'literal' && node.text === 'null' ? '' : write(node, compactStyle);
}

function topMembers(excised: string, order?: Order): readonly Member[] {
  const tree = readLiteralTree(excised);
  const members = tree.kind === 'object' ? lastOfEach(tree.members) : [];
  return order ? members.sort(order) : members;
}

/** Of a repeated name the last one counts, as in JSON.parse. */
function lastOfEach(members: readonly Member[]): Member[] {
  return [...new Map(members)];
}

function byCodeUnit([one]: Member, [other]: Member): number {
  return one < other ? -1 : Number(one > other);
}

function byCodePoint([one]: Member, [other]: Member): number {
  let index = 0;
  while (index < one.length && index < other.length) {
    const [left = 0, right = 0] = [one.codePointAt(index), other.codePointAt(index)];
    if (left !== right) return left - right;
    index += left > 0xffff ? 2 : 1;
  }
  return one.length - other.length;
}

/** A JSON string in which every unit from `from` on is written as `\uXXXX`. */
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
