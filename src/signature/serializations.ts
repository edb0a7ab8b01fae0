import type { JsonObject } from '../json/json-value.ts';
import { readLiteralTree } from '../json/literal-tree.ts';
import {
  byCodePoint,
  phpStyle,
  pythonStyle,
  topMembers,
  writeNode,
  writePlain,
  writeSorted,
} from './write-json.ts';

/**
 * Which text is signed. "The body" is the body without its top-level `signature`.
 *
 * - `as-sent`: the body's own text, with the member cut out. Loses nothing.
 * - `compact`: `JSON.stringify` of the parsed body. Loses number spelling (`10.0`, `1e2`, integers beyond 2^53),
 *   string escapes (`\/`, `\u00e9`), spacing, repeated members, and the place of integer-like names (they move to
 *   the front).
 * - `sorted`: as `compact`, with the members of every object sorted by UTF-16 code unit. Loses the same, but keeps
 *   integer-like names in code unit order.
 * - `sorted-shallow`: as `sorted`, for the outermost object only; those inside stay as in `compact`.
 *
 * The rest keep numbers as they are spelled and, unless sorted, members where they stand:
 *
 * - `python`: `json.dumps`: `", "` and `": "` between, everything beyond ASCII as `\uXXXX`.
 * - `python-sorted`: `json.dumps(sort_keys=True)`: by code point, in every object.
 * - `php`: `json_encode`: no spaces, `/` as `\/`, everything beyond ASCII as `\uXXXX`.
 * - `values`: the values of the outermost object, in code unit order of their names, with `joiner` between. Texts
 *   stand without quotes, null as nothing, objects and arrays as compact JSON.
 * - `values-as-sent`: the same in the order in which they were sent.
 * - `query`: `name=value&name=value` in code unit order of the names; values as in `values`, not percent-encoded.
 *   Under these three a signature does not pin the body: whoever holds one can move text across the borders of
 *   members (`"a":"1&b=2"` signs as `"a":"1","b":"2"`). Compare what matters with your own record of the order.
 * - `base64`, `base64-compact`, `base64-sorted`: base64 of the UTF-8 bytes of `as-sent`, `compact`, `sorted`.
 */
export type Serialization =
  | 'as-sent'
  | 'compact'
  | 'sorted'
  | 'sorted-shallow'
  | 'python'
  | 'python-sorted'
  | 'php'
  | 'values'
  | 'values-as-sent'
  | 'query'
  | 'base64'
  | 'base64-compact'
  | 'base64-sorted';

/** A body in both of its forms. */
export interface BodyForms {
  /** Its own text without the top-level `signature`. */
  readonly excised: string;
  /** The whole parsed body. */
  readonly value: JsonObject;
}

/** All that is known of one serialization. */
export interface SerializationRules {
  /** The text that is signed. Recursive, but for `as-sent`: throws `RangeError` beyond the call stack. */
  readonly write: (body: BodyForms, joiner: string) => string;
  /** What is written: the body's own text, or its parsed value, which has lost how the text was spelled. */
  readonly source: 'text' | 'value';
  /**
   * What a signature pins. `json`: the whole body. `pairs` and `values`: text can move across the borders of members
   * under the same signature; of `values` the names are not signed either.
   */
  readonly pins: 'json' | 'pairs' | 'values';
  /** Whether a `joiner` stands between its parts. */
  readonly takesJoiner: boolean;
  /** Place in the order in which detection prefers those that fit alike: the text itself, plain JSON, the rest. */
  readonly preference: number;
}

/**
 * The registry of serializations: whatever depends on the name of one is read off it, so that another is one entry
 * more. What each of them does is documented at {@link Serialization}.
 */
export const serializations = {
  'as-sent': json('text', 0, ({ excised }) => excised),
  compact: json('value', 1, ({ value }) => JSON.stringify(unsigned(value))),
  sorted: json('value', 2, ({ value }) => writeSorted(unsigned(value))),
  'sorted-shallow': json('value', 6, ({ value }) => writeSorted(unsigned(value), JSON.stringify)),
  python: json('text', 3, ({ excised }) => writeNode(readLiteralTree(excised), pythonStyle)),
  'python-sorted': json('text', 5, ({ excised }) =>
    writeNode(readLiteralTree(excised), { ...pythonStyle, order: byCodePoint }),
  ),
  php: json('text', 4, ({ excised }) => writeNode(readLiteralTree(excised), phpStyle)),
  values: {
    write: ({ excised }, joiner) => joinValues(topMembers(excised, 'sorted'), joiner),
    source: 'text',
    pins: 'values',
    takesJoiner: true,
    preference: 11,
  },
  'values-as-sent': {
    write: ({ excised }, joiner) => joinValues(topMembers(excised, 'as-sent'), joiner),
    source: 'text',
    pins: 'values',
    takesJoiner: true,
    preference: 12,
  },
  query: {
    write: ({ excised }) =>
      topMembers(excised, 'sorted')
        .map(([name, node]) => `${name}=${writePlain(node)}`)
        .join('&'),
    source: 'text',
    pins: 'pairs',
    takesJoiner: false,
    preference: 10,
  },
  base64: json('text', 7, ({ excised }) => toBase64(excised)),
  'base64-compact': json('value', 8, ({ value }) => toBase64(JSON.stringify(unsigned(value)))),
  'base64-sorted': json('value', 9, ({ value }) => toBase64(writeSorted(unsigned(value)))),
} as const satisfies Record<Serialization, SerializationRules>;

/** All that is known of a serialization. */
export function serializationRules(name: Serialization): SerializationRules {
  return serializations[name];
}

function json(
  source: SerializationRules['source'],
  preference: number,
  write: (body: BodyForms) => string,
): SerializationRules {
  return { write, source, pins: 'json', takesJoiner: false, preference };
}

function unsigned({ signature: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function joinValues(members: ReturnType<typeof topMembers>, joiner: string): string {
  return members.map(([, node]) => writePlain(node)).join(joiner);
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
