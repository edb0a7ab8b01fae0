import { SignatureError } from '../errors/errors.ts';
import type { JsonObject, JsonValue } from '../internal/json.ts';
import { readLiteralTree } from '../internal/json-tree.ts';
import {
  byCodePoint,
  minifiedStyle,
  phpStyle,
  pythonStyle,
  topMembers,
  writeNode,
  writePlain,
  writeSorted,
} from './write-json.ts';

export interface BodyForms {
  /** Its own text without the top-level `signature`, and without what stands around it. */
  readonly json: string;
  /** The whole parsed body. */
  readonly value: JsonObject;
  /** `json` with the white space around it, with and without the byte order mark before that; absent if it has neither. */
  readonly padded?: readonly string[];
}

export interface SerializationRules {
  /** All but `as-sent` are recursive, and throw `RangeError` for a body that is nested too deeply. */
  readonly write: (body: BodyForms, joiner: string) => string;
  /** What it reads: the body's own text, or its parsed value, whose spelling is lost. */
  readonly reads: 'text' | 'value';
  /**
   * What a signature pins. `json`: the whole body. `pairs` and `values`: text can move between members under the same
   * signature; with `values` the names are not signed either.
   */
  readonly pins: 'json' | 'pairs' | 'values';
  /** Whether it uses `joiner`. */
  readonly takesJoiner: boolean;
  /** Whether white space and a byte order mark around the body are part of the text, for a sender that signs them. */
  readonly keepsPadding: boolean;
  /** The rank when several fit: the text itself first, then plain JSON, then the rest. */
  readonly preference: number;
  /**
   * The serialization that writes the same text of every body without white space. A sender writes white space always or
   * never, so where both fit all samples, this one is enough.
   */
  readonly likeUnspaced?: 'as-sent';
}

/**
 * The registry of serializations; {@link Serialization} documents each. Other code reads the rules: of the names, only
 * `detection/near-misses.ts` and `detection/search-schemes.ts` know some.
 */
export const serializations = {
  'as-sent': { ...jsonRules('text', 0, ({ json }) => json), keepsPadding: true },
  minified: {
    ...jsonRules('text', 1, ({ json }) => writeNode(readLiteralTree(json), minifiedStyle)),
    likeUnspaced: 'as-sent',
  },
  'minified-sorted': jsonRules('text', 3, ({ json }) =>
    writeNode(readLiteralTree(json), { ...minifiedStyle, order: byCodePoint }),
  ),
  compact: jsonRules('value', 2, ({ value }) => JSON.stringify(withoutSignature(value))),
  sorted: jsonRules('value', 4, ({ value }) => writeSorted(withoutSignature(value))),
  python: jsonRules('text', 5, ({ json }) => writeNode(readLiteralTree(json), pythonStyle)),
  'python-sorted': jsonRules('text', 7, ({ json }) =>
    writeNode(readLiteralTree(json), { ...pythonStyle, order: byCodePoint }),
  ),
  php: jsonRules('text', 6, ({ json }) => writeNode(readLiteralTree(json), phpStyle)),
  values: {
    ...jsonRules('text', 12, ({ json }, joiner) =>
      topMembers(json)
        .map(([, node]) => writePlain(node))
        .join(joiner),
    ),
    pins: 'values',
    takesJoiner: true,
  },
  query: {
    ...jsonRules('text', 11, ({ json }) =>
      topMembers(json)
        .map(([name, node]) => `${name}=${writePlain(node)}`)
        .join('&'),
    ),
    pins: 'pairs',
  },
  base64: { ...jsonRules('text', 8, ({ json }) => toBase64(json)), keepsPadding: true },
  'base64-compact': jsonRules('value', 9, ({ value }) => toBase64(JSON.stringify(withoutSignature(value)))),
  'base64-sorted': jsonRules('value', 10, ({ value }) => toBase64(writeSorted(withoutSignature(value)))),
} as const satisfies Readonly<Record<string, SerializationRules>>;

/**
 * Which text is signed. "The body" is the body without its top-level `signature`.
 *
 * - `as-sent`: the body's own text with the member cut out. Nothing is lost. White space and a byte order mark around
 *   the body may be signed or not.
 * - `compact`: `JSON.stringify` of the parsed body. It ignores how numbers are spelled (`10.0`, `1e2`), string escapes
 *   (`\/`, `\u00e9`), spacing, repeated members (the last one counts), and the place of integer-like names (they move
 *   to the front).
 * - `sorted`: `compact`, with the members of every object sorted by UTF-16 code unit, integer-like names too.
 *
 * `compact`, `sorted`, `base64-compact` and `base64-sorted` sign the parsed value: bodies with the same
 * signature have the same parsed value. A body with `-0` or a number out of range (`1e999`), which would be signed as
 * `0` and `null`, is refused as `body_ambiguous`. What parsing loses stays lost: a number is rounded to the nearest
 * double, so `9007199254740993` and `9007199254740992` have the same signature.
 *
 * The others keep the spelling of numbers and, unless sorted, the order of members:
 *
 * - `minified`: the body's own text without white space between its tokens. Numbers and escapes stay as they were sent
 *   (`10.0`, `1e-7`, `\u00e9`).
 * - `minified-sorted`: the same with the members of every object sorted by code point of their names, for a sender that
 *   signs a sorted copy (Python's `json.dumps(sort_keys=True, separators=(',', ':'))`, a sorted map of Java or PHP).
 * - `python`: `json.dumps`: `", "` and `": "` between, everything beyond ASCII as `\uXXXX`.
 * - `python-sorted`: `json.dumps(sort_keys=True)`: by code point, in every object.
 * - `php`: `json_encode`: no spaces, `/` as `\/`, everything beyond ASCII as `\uXXXX`.
 * - `values`: the values of the outermost object, in code unit order of their names, joined by `joiner`. Strings go
 *   without quotes, null as nothing, objects and arrays as compact JSON.
 * - `query`: `name=value&name=value` in code unit order of the names; values as in `values`, not percent-encoded.
 * - `base64`, `base64-compact`, `base64-sorted`: base64 of the UTF-8 bytes of `as-sent`, `compact`, `sorted`.
 *
 * Under `values` and `query` a signature does not pin the body: somebody who holds one can move text
 * from member to member (`"a":"1&b=2"` signs as `"a":"1","b":"2"`). Compare what matters with your own record of the
 * order.
 *
 * @useDeclaredType
 */
export type Serialization = keyof typeof serializations;

export function serializationRules(name: Serialization): SerializationRules {
  return serializations[name];
}

function jsonRules(
  reads: SerializationRules['reads'],
  preference: number,
  write: SerializationRules['write'],
): SerializationRules {
  return { write, reads, pins: 'json', takesJoiner: false, keepsPadding: false, preference };
}

export function withoutSignature({ signature: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export interface TextRules {
  readonly serialization: Serialization;
  readonly joiner?: string | undefined;
}

/**
 * @throws {SignatureError} `body_too_deep` or `body_ambiguous` for a body that cannot be serialised again,
 *   `body_not_utf8`
 */
export function canonicalText({ serialization, joiner = '' }: TextRules, body: BodyForms): string {
  if (serialization === 'as-sent') return body.json;
  const { reads, write } = serializationRules(serialization);
  if (reads === 'value' && hasAmbiguousNumber(body.value)) {
    throw new SignatureError(
      'body_ambiguous',
      `The body has -0 or a number that is out of range, and ${serialization} would sign it as 0 or null.`,
      { assumptions: ['signature-serialization'] },
    );
  }
  try {
    const text = write(body, joiner);
    // Two texts that are not well-formed Unicode may have the same digest.
    if (text.isWellFormed()) return text;
  } catch (error) {
    // Serialising is recursive, also in the engine.
    if (!(error instanceof RangeError)) throw error;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be serialised again.');
  }
  throw new SignatureError('body_not_utf8', 'The body has half of a surrogate pair: it has no UTF-8 text.');
}

/**
 * Every text that the sender of a body may have signed, the canonical one first. It is not published whether a sender
 * signs the line feed that its encoder adds, or the mark that its platform begins a text with. They have no meaning in
 * JSON, so no signature holds for two values.
 *
 * @throws {SignatureError} as {@link canonicalText}
 */
export function signedTexts(
  scheme: TextRules,
  body: BodyForms,
): readonly [canonical: string, ...others: string[]] {
  const text = canonicalText(scheme, body);
  const { value, padded } = body;
  if (padded === undefined || !serializationRules(scheme.serialization).keepsPadding) return [text];
  return [text, ...padded.map((json) => canonicalText(scheme, { json, value }))];
}

/** `JSON.stringify` writes these as `0` and `null`, so anyone could exchange them in a signed body. */
function hasAmbiguousNumber(body: JsonValue): boolean {
  // Not recursive, for bodies of any depth.
  const pending: JsonValue[] = [body];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'number') {
      if (!Number.isFinite(value) || Object.is(value, -0)) return true;
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Array.isArray(value) ? value : Object.values(value)) pending.push(member);
    }
  }
  return false;
}

/**
 * A text that is the same for every spelling of one delivery and differs between deliveries: the canonical text, and
 * under schemes that do not pin the whole body also the body, sorted. Numbers keep their spelling, which is signed.
 *
 * @throws {SignatureError} `body_too_deep` for a body that cannot be serialised again
 */
export function pinnedText(
  scheme: TextRules,
  { value, text, json }: { readonly value: JsonObject; readonly text: string; readonly json: string },
): string {
  if (serializationRules(scheme.serialization).pins === 'json') return text;
  const content = canonicalText({ ...scheme, serialization: 'python-sorted' }, { json, value });
  // With its length, so that no two pairs give the same text.
  return `${text.length}:${text}${content}`;
}
