import { ConfigurationError, SignatureError } from '../errors/errors.ts';
import { isJsonObject } from '../internal/json.ts';
import { findMembers } from '../internal/json-scanner.ts';
import { parseJson } from '../internal/json-tree.ts';
import { decodeUtf8 } from '../internal/utf8.ts';
import { decodeDigest } from './digest.ts';
import type { BodyForms } from './serializations.ts';
import type { Encoding } from './signature-scheme.ts';

/** Refuses bytes that are not UTF-8, and text with half a surrogate pair: two such texts could have one digest. */
export function decodeBody(body: string | Uint8Array): string {
  requireRawBody(body);
  const text = typeof body === 'string' ? body : decodeUtf8(body);
  if (text?.isWellFormed() !== true) throw new SignatureError('body_not_utf8', 'The body is not UTF-8 text.');
  return text;
}

/** The length of a body. @throws {ConfigurationError} `raw_body_required` for an object that was parsed */
export function byteLengthOf(body: string | Uint8Array): number {
  requireRawBody(body);
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

function requireRawBody(body: unknown): void {
  // Not by instanceof: test runners have several realms.
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return;
  throw new ConfigurationError(
    'raw_body_required',
    'A signature is checked over the raw body, not over a parsed object.',
  );
}

const memberName = '"signature"';

export interface ParsedSignedBody extends BodyForms {
  /** The digest that the signature encodes. */
  readonly claimedDigest: Uint8Array;
}

/**
 * @throws {SignatureError} `body_not_json`, `body_not_object`, `body_too_deep`, `signature_missing`,
 *   `signature_malformed`, `signature_duplicated`
 */
export function parseSignedBody(source: string, encoding: Encoding): ParsedSignedBody {
  const padding = paddingOf(source);
  if (padding === undefined) return parseUnpadded(source, encoding);
  const { before, core, behind } = padding;
  const parsed = parseUnpadded(core, encoding);
  const texts = [before, before.replace(mark, '')].map((start) => start + parsed.json + behind);
  return {
    ...parsed,
    padded: texts.filter((text, index) => text !== parsed.json && text !== texts[index - 1]),
  };
}

function parseUnpadded(source: string, encoding: Encoding): ParsedSignedBody {
  return parseSignedLast(source, encoding) ?? parseSignedAnywhere(source, encoding);
}

const mark = '\uFEFF';

/**
 * The white space of JSON around a text, with one byte order mark before it: encoders write both, and neither has a
 * meaning. `undefined` for a text without them, and for one with other characters that `trim` removes: it is not JSON.
 */
function paddingOf(source: string): { before: string; core: string; behind: string } | undefined {
  const core = source.trim();
  if (core.length === source.length) return undefined;
  const start = source.length - source.trimStart().length;
  const [before, behind] = [source.slice(0, start), source.slice(start + core.length)];
  const isPadding =
    !notSpace.test(before.startsWith(mark) ? before.slice(1) : before) && !notSpace.test(behind);
  return isPadding ? { before, core, behind } : undefined;
}

/**
 * Reads a body that ends with its signature, as nearly every sender writes it, without a search. If the rest is an object
 * without a `signature`, the body is that object plus this one. `undefined` for a body that ends differently.
 */
function parseSignedLast(source: string, encoding: Encoding): ParsedSignedBody | undefined {
  const closingBrace = spaceStart(source, source.length) - 1;
  const end = spaceStart(source, closingBrace);
  const valueStart = source.lastIndexOf('"', end - 2);
  const colon = spaceStart(source, valueStart) - 1;
  const nameEnd = spaceStart(source, colon);
  const comma = spaceStart(source, nameEnd - memberName.length) - 1;
  const contentEnd = spaceStart(source, comma);
  if (source[closingBrace] !== '}' || source[end - 1] !== '"' || source[colon] !== ':') return undefined;
  if (!source.endsWith(memberName, nameEnd) || source[comma] !== ',') return undefined;
  // `{,"signature":…}` is not JSON, but would be without the signature.
  if (source[contentEnd - 1] === '{') return undefined;
  const signature = source.slice(valueStart + 1, end - 1);
  const claimedDigest = decodeDigest(encoding, signature);
  if (claimedDigest === undefined) return undefined;
  const json = source.slice(0, contentEnd) + source.slice(end);
  const value = readJson(json);
  if (!isJsonObject(value)) throw notJson(source);
  if (Object.hasOwn(value, 'signature')) throw duplicatedSignature();
  value.signature = signature;
  return { value, json, claimedDigest };
}

function parseSignedAnywhere(source: string, encoding: Encoding): ParsedSignedBody {
  const value = readJson(source);
  if (value === undefined) throw notJson(source);
  if (!isJsonObject(value)) throw new SignatureError('body_not_object', 'The body is not a JSON object.');
  if (!Object.hasOwn(value, 'signature')) {
    throw new SignatureError('signature_missing', 'The body has no top-level signature.');
  }
  const { signature } = value;
  const claimedDigest = typeof signature === 'string' ? decodeDigest(encoding, signature) : undefined;
  if (claimedDigest === undefined) {
    throw new SignatureError(
      'signature_malformed',
      `The signature is not a SHA-512 digest written as ${encoding}.`,
      { assumptions: ['signature-encoding'] },
    );
  }
  return { value, json: removeSignature(source), claimedDigest };
}

/** Without the parser's own message, which quotes the body. */
function notJson(source: string): SignatureError {
  return new SignatureError('body_not_json', `The body is ${source === '' ? 'empty' : 'not JSON'}.`);
}

/** `undefined` for what is not JSON. @throws {SignatureError} `body_too_deep` */
function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be read.');
  }
}

/**
 * A JSON object's text as its serializer would have written it without the top-level `signature` member.
 *
 * @param text an object with a top-level `signature`, accepted by `JSON.parse`
 * @throws {SignatureError} `signature_duplicated` when it has more than one
 */
export function removeSignature(text: string): string {
  const [member, another] = findMembers(text, 'signature');
  if (member === undefined || another !== undefined) throw duplicatedSignature();
  const { start } = member;
  const { end } = member.value;
  const contentEnd = spaceStart(text, start);
  // `{"a":1 , "signature":"x"` -> `{"a":1`: the comma before it goes, with the space before that.
  if (text[contentEnd - 1] === ',') return text.slice(0, spaceStart(text, contentEnd - 1)) + text.slice(end);
  const after = spaceEnd(text, end);
  // `{ "signature":"x" , "a":1` -> `{ "a":1`: cut up to the next member.
  if (text[after] === ',') return text.slice(0, start) + text.slice(spaceEnd(text, after + 1));
  // The only member: `{ "signature":"x" }` -> `{}`.
  return text.slice(0, contentEnd) + text.slice(after);
}

function duplicatedSignature(): SignatureError {
  return new SignatureError('signature_duplicated', 'The body has more than one top-level signature.');
}

function spaceStart(text: string, index: number): number {
  if (!isSpace(text.charCodeAt(index - 1))) return index;
  // A loop over a mebibyte would take longer than hashing it.
  const start = text.slice(0, index).trimEnd().length;
  // trimEnd removes more than JSON's white space. A text that has that there is not JSON, wherever it is cut.
  return notSpace.test(text.slice(start, index)) ? index : start;
}

const notSpace = /[^ \t\n\r]/;

function spaceEnd(text: string, index: number): number {
  let at = index;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** JSON white space only. */
function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
