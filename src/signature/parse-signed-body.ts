import { SignatureError } from '../errors/signature-error.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { decodeDigest, encodedLength } from './digest.ts';
import { removeSignature, spaceStart } from './remove-signature.ts';
import type { Encoding } from './signature-scheme.ts';

const memberName = '"signature"';

/** A body in its parts. */
export interface ParsedSignedBody {
  /** The whole parsed body. */
  readonly value: JsonObject;
  /** Its own text without the top-level `signature`. */
  readonly excised: string;
  /** The bytes of the signature; good until the next body is taken apart. */
  readonly claim: Uint8Array;
}

/**
 * Parses a body and cuts its signature out.
 *
 * @throws {SignatureError} `body_not_json`, `body_not_object`, `signature_missing`, `signature_malformed`,
 *   `signature_duplicated`
 */
export function parseSignedBody(source: string, encoding: Encoding): ParsedSignedBody {
  return cutOffEnd(source, encoding) ?? cutOut(source, encoding);
}

/**
 * The short way, for a signature that is the last member: without it the text has to be a whole object that has
 * members, and no other `signature`. Then the body is one too, with exactly this one, and nothing needs a search.
 */
function cutOffEnd(source: string, encoding: Encoding): ParsedSignedBody | undefined {
  const brace = spaceStart(source, source.length) - 1;
  const end = spaceStart(source, brace);
  const open = end - encodedLength[encoding] - 2;
  const colon = spaceStart(source, open) - 1;
  const nameEnd = spaceStart(source, colon);
  const comma = spaceStart(source, nameEnd - memberName.length) - 1;
  if (source[comma] !== ',' || !source.endsWith(memberName, nameEnd) || source[colon] !== ':')
    return undefined;
  if (source[open] !== '"' || source[end - 1] !== '"' || source[brace] !== '}') return undefined;
  const signature = source.slice(open + 1, end - 1);
  const claim = decodeDigest(encoding, signature);
  if (claim === undefined) return undefined;
  const before = spaceStart(source, comma);
  // `{,"signature":…}` is no JSON, and would be without the signature.
  if (source[before - 1] === '{') return undefined;
  const excised = source.slice(0, before) + source.slice(end);
  const value = tryParse(excised);
  if (!isJsonObject(value) || Object.hasOwn(value, 'signature')) return undefined;
  value.signature = signature;
  return { value, excised, claim };
}

/** The way for every other body, and for saying what is wrong with one. */
function cutOut(source: string, encoding: Encoding): ParsedSignedBody {
  const value = tryParse(source);
  // What the parser itself would say quotes the body.
  if (value === undefined) throw new SignatureError('body_not_json', `The body is ${describe(source)}.`);
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
  return { value, excised: removeSignature(source), claim };
}

function describe(source: string): string {
  if (source === '') return 'empty';
  return source.startsWith('\uFEFF') ? 'JSON behind a byte order mark' : 'not JSON';
}

/** `undefined` for what is not JSON. @throws {SignatureError} `body_too_deep` where the text has to be read by hand */
function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof RangeError)) return undefined;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be read by hand.');
  }
}
