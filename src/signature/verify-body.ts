import { checkScheme, defaultScheme, type SignatureScheme } from '../deployment/signature-scheme.ts';
import { SignatureError } from '../errors/signature-error.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { checkKeys } from './check-keys.ts';
import { decodeBody } from './decode-body.ts';
import { decodeDigest, findSigner } from './digest.ts';
import { exciseSignature } from './excise-signature.ts';
import { compactText, sortedText } from './serialize.ts';

export interface VerifyOptions {
  /** One secret text or several (two generations during a rotation, several merchants). */
  key: string | readonly string[];
  /** @default {@link defaultScheme} */
  scheme?: SignatureScheme | undefined;
}

/** A body whose signature is right. */
export interface VerifiedBody {
  /** The whole parsed body, `signature` included. */
  readonly value: JsonObject;
  /** The text that was signed: under `as-sent`, the body without its `signature` member. */
  readonly text: string;
  /** Which of the keys matched; 0 for a single one. */
  readonly keyIndex: number;
}

/**
 * Checks the signature of a body as received and returns what it says. Never returns for a wrong one.
 *
 * Give it the raw text or bytes: what a framework has parsed and written again is another text. Bytes must be
 * UTF-8; a byte order mark is refused.
 *
 * @throws {SignatureError} see {@link SignatureErrorCode}
 * @throws {ConfigurationError} `raw_body_required` for a parsed object, `invalid_scheme`, `invalid_credentials`
 */
export function verifyBody(body: string | Uint8Array, options: VerifyOptions): VerifiedBody {
  const scheme = checkScheme(options.scheme ?? defaultScheme);
  const keys = checkKeys(options.key);
  const source = decodeBody(body);
  const value = parseObject(source);
  const claim = readSignature(value, scheme);
  // Always excised, whatever is signed: two signatures are refused under every scheme.
  const excised = exciseSignature(source);
  const text = canonicalText(scheme, excised, value);
  const keyIndex = findSigner(scheme.construction, keys, { text, claim });
  if (keyIndex !== -1) return { value, text, keyIndex };
  throw new SignatureError(
    'signature_mismatch',
    'The signature does not match: another key, another signature scheme, or a changed body.',
    { assumptions: ['signature-construction', 'signature-serialization', 'signature-key'] },
  );
}

function parseObject(source: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    // The parser's own message quotes the body.
    const what =
      source === '' ? 'empty' : source.startsWith('\uFEFF') ? 'JSON behind a byte order mark' : 'not JSON';
    throw new SignatureError('body_not_json', `The body is ${what}.`);
  }
  if (!isJsonObject(value)) throw new SignatureError('body_not_object', 'The body is not a JSON object.');
  return value;
}

function readSignature(value: JsonObject, scheme: SignatureScheme): Uint8Array {
  if (!Object.hasOwn(value, 'signature')) {
    throw new SignatureError('signature_missing', 'The body has no top-level signature.');
  }
  const { signature } = value;
  const digest = typeof signature === 'string' ? decodeDigest(scheme.encoding, signature) : undefined;
  if (digest !== undefined) return digest;
  throw new SignatureError(
    'signature_malformed',
    `The signature is not a SHA-512 digest written as ${scheme.encoding}.`,
    { assumptions: ['signature-encoding'] },
  );
}

function canonicalText(scheme: SignatureScheme, excised: string, value: JsonObject): string {
  switch (scheme.serialization) {
    case 'as-sent':
      return excised;
    case 'compact':
      return compactText(value);
    case 'sorted':
      return sortedText(value);
  }
}
