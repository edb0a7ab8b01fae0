import { ConfigurationError, SignatureError } from '../errors/errors.ts';
import type { JsonObject } from '../internal/json.ts';
import { isSignedWith } from './digest.ts';
import { signedTexts } from './serializations.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from './signature-scheme.ts';
import { decodeBody, type ParsedSignedBody, parseSignedBody } from './signed-body.ts';

/** Options of {@link verifyBody}. */
export interface VerifyOptions {
  /** One secret text or several (two generations during a rotation, or several merchants). */
  key: string | readonly string[];
  /** @default {@link defaultScheme} */
  scheme?: SignatureScheme | undefined;
}

/** A body whose signature is correct. */
export interface VerifiedBody {
  /** The whole parsed body, `signature` included. */
  readonly value: JsonObject;
  /** The text that was signed: under `as-sent`, the body without its `signature` member. */
  readonly text: string;
  /** The body's own JSON text without its top-level `signature`, and without white space around it. */
  readonly json: string;
  /** Which of the keys matched; 0 for a single one. */
  readonly keyIndex: number;
}

/**
 * Verifies the signature of a body as received and returns what the body says. Throws when it is wrong.
 *
 * Pass the raw text or bytes: a body that a framework parsed and wrote again is another text. Bytes must be UTF-8. White
 * space and a byte order mark around the body may be signed or not: both verify.
 *
 * @throws {SignatureError} see {@link SignatureErrorCode}
 * @throws {ConfigurationError} `raw_body_required` for a parsed object, `invalid_scheme`, `invalid_credentials`
 */
export function verifyBody(body: string | Uint8Array, options: VerifyOptions): VerifiedBody {
  const scheme = checkScheme(options.scheme ?? defaultScheme);
  const keys = checkVerificationKeys(options.key);
  const unverified = readUnverifiedBody(body, scheme);
  const { value, json } = unverified;
  // Every key is tried: a match must not show in the time whose key it was.
  const texts = keys.map((key) => signedText(key, unverified, scheme));
  const keyIndex = texts.findIndex((text) => text !== undefined);
  const text = texts[keyIndex];
  if (text === undefined) throw signatureMismatch();
  return { value, text, json, keyIndex };
}

/** A body with its signature, before any key was tried: nothing in it can be trusted. */
export interface UnverifiedBody extends ParsedSignedBody {
  /** The canonical text, the same whatever stands around the body. */
  readonly text: string;
  /** Every text that may have been signed; the canonical one is among them. */
  readonly texts: readonly string[];
}

/**
 * @throws {SignatureError} every code but `signature_mismatch`
 * @throws {ConfigurationError} `raw_body_required` for a parsed object
 */
export function readUnverifiedBody(body: string | Uint8Array, scheme: SignatureScheme): UnverifiedBody {
  // Parsed under every scheme, because parsing refuses two signatures.
  const parsed = parseSignedBody(decodeBody(body), scheme.encoding);
  const { value, json, claimedDigest } = parsed;
  const texts = signedTexts(scheme, parsed);
  return { value, json, claimedDigest, text: texts[0], texts };
}

/** The text that a key has signed; `undefined` if it signed none of them. Tries every text, in constant time. */
export function signedText(
  key: string,
  { texts, claimedDigest }: Pick<UnverifiedBody, 'texts' | 'claimedDigest'>,
  scheme: SignatureScheme,
): string | undefined {
  return texts.filter((text) => isSignedWith(scheme, key, { text, claimedDigest }))[0];
}

export function signatureMismatch(): SignatureError {
  return new SignatureError(
    'signature_mismatch',
    'The signature does not match: another key, another signature scheme, or a changed body.',
    { assumptions: ['signature-construction', 'signature-serialization', 'signature-key'] },
  );
}

/** @throws {ConfigurationError} `invalid_credentials` unless there is at least one */
function checkVerificationKeys(key: string | readonly string[]): readonly string[] {
  const keys = [key].flat();
  if (keys.length === 0) checkVerificationKey(undefined);
  return keys.map(checkVerificationKey);
}

/** @throws {ConfigurationError} `invalid_credentials` */
export function checkVerificationKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new ConfigurationError('invalid_credentials', 'A signing key is missing or empty.');
}
