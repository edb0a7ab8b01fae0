import { SignatureError } from '../errors/signature-error.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { decodeDigest } from './digest.ts';
import { duplicatedSignature, removeSignature, spaceStart } from './remove-signature.ts';
import type { Encoding } from './signature-scheme.ts';

const memberName = '"signature"';

/** A signed body in its parts. */
export interface ParsedSignedBody {
  /** The whole parsed body. */
  readonly value: JsonObject;
  /** Its own text without the top-level `signature`. */
  readonly unsignedText: string;
  /** The digest that the signature encodes. */
  readonly claim: Uint8Array;
}

/**
 * Parses a body and cuts its signature out.
 *
 * @throws {SignatureError} `body_not_json`, `body_not_object`, `body_too_deep`, `signature_missing`,
 *   `signature_malformed`, `signature_duplicated`
 */
export function parseSignedBody(source: string, encoding: Encoding): ParsedSignedBody {
  return parseSignedLast(source, encoding) ?? parseSignedAnywhere(source, encoding);
}

/**
 * Parses a body whose last member is its signature, as nearly every sender writes it. The signature is cut off first
 * and the rest is parsed, so nothing has to be searched: if the rest is an object without a `signature`, the body is
 * that object plus exactly this one. `undefined` for a body that ends differently.
 */
function parseSignedLast(source: string, encoding: Encoding): ParsedSignedBody | undefined {
  const brace = spaceStart(source, source.length) - 1;
  const end = spaceStart(source, brace);
  const open = source.lastIndexOf('"', end - 2);
  const colon = spaceStart(source, open) - 1;
  const nameEnd = spaceStart(source, colon);
  const comma = spaceStart(source, nameEnd - memberName.length) - 1;
  const before = spaceStart(source, comma);
  if (source[brace] !== '}' || source[end - 1] !== '"' || source[colon] !== ':') return undefined;
  if (!source.endsWith(memberName, nameEnd) || source[comma] !== ',') return undefined;
  // `{,"signature":…}` is not JSON, but would be without the signature.
  if (source[before - 1] === '{') return undefined;
  const signature = source.slice(open + 1, end - 1);
  const claim = decodeDigest(encoding, signature);
  if (claim === undefined) return undefined;
  const unsignedText = source.slice(0, before) + source.slice(end);
  const value = tryParse(unsignedText);
  if (!isJsonObject(value)) throw notJson(source);
  if (Object.hasOwn(value, 'signature')) throw duplicatedSignature();
  value.signature = signature;
  return { value, unsignedText, claim };
}

function parseSignedAnywhere(source: string, encoding: Encoding): ParsedSignedBody {
  const value = tryParse(source);
  if (value === undefined) throw notJson(source);
  if (!isJsonObject(value)) throw new SignatureError('body_not_object', 'The body is not a JSON object.');
  if (!Object.hasOwn(value, 'signature')) {
    throw new SignatureError('signature_missing', 'The body has no top-level signature.');
  }
  const { signature } = value;
  const claim = typeof signature === 'string' ? decodeDigest(encoding, signature) : undefined;
  if (claim === undefined) {
    throw new SignatureError(
      'signature_malformed',
      `The signature is not a SHA-512 digest written as ${encoding}.`,
      { assumptions: ['signature-encoding'] },
    );
  }
  return { value, unsignedText: removeSignature(source), claim };
}

/** Without the parser's own message, which quotes the body. */
function notJson(source: string): SignatureError {
  return new SignatureError('body_not_json', `The body is ${describe(source)}.`);
}

function describe(source: string): string {
  if (source === '') return 'empty';
  return source.startsWith('\uFEFF') ? 'JSON behind a byte order mark' : 'not JSON';
}

/** `undefined` for what is not JSON. @throws {SignatureError} `body_too_deep` */
function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be read.');
  }
}
