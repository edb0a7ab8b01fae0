import type { JsonObject } from '../json/json-value.ts';
import { checkKeys } from './check-keys.ts';
import { readClaimedBody, signatureMismatch } from './claimed-body.ts';
import { findSigner } from './digest.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from './signature-scheme.ts';

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
  /** The body's own JSON text without its top-level `signature`; the same as `text` under `as-sent`. */
  readonly json: string;
  /** Which of the keys matched; 0 for a single one. */
  readonly keyIndex: number;
}

/**
 * Verifies the signature of a body as received and returns what the body says. Throws when it is wrong.
 *
 * Pass the raw text or bytes: a body that a framework parsed and wrote again is another text. Bytes must be UTF-8; a
 * byte order mark is refused.
 *
 * @throws {SignatureError} see {@link SignatureErrorCode}
 * @throws {ConfigurationError} `raw_body_required` for a parsed object, `invalid_scheme`, `invalid_credentials`
 */
export function verifyBody(body: string | Uint8Array, options: VerifyOptions): VerifiedBody {
  const scheme = checkScheme(options.scheme ?? defaultScheme);
  const keys = checkKeys(options.key);
  const claimed = readClaimedBody(body, scheme);
  const { value, text, json } = claimed;
  const keyIndex = findSigner(scheme, keys, claimed);
  if (keyIndex !== -1) return { value, text, json, keyIndex };
  throw signatureMismatch();
}
