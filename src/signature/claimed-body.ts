import { SignatureError } from '../errors/signature-error.ts';
import type { JsonObject } from '../json/json-value.ts';
import { canonicalText } from './canonical-text.ts';
import { decodeBody } from './decode-body.ts';
import { findSigner } from './digest.ts';
import { parseSignedBody } from './parse-signed-body.ts';
import type { SignatureScheme } from './signature-scheme.ts';

/** A body with the signature that it claims to have, before any key was tried: nothing in it can be trusted. */
export interface ClaimedBody {
  /** The whole parsed body, `signature` included. */
  readonly value: JsonObject;
  /** The text that was signed. */
  readonly text: string;
  /** The body's own JSON text without its top-level `signature`. */
  readonly json: string;
  /** The digest that the signature encodes. */
  readonly claim: Uint8Array;
}

/**
 * Reads a body once, whatever number of keys is tried on it afterwards.
 *
 * @throws {SignatureError} every code but `signature_mismatch`
 * @throws {ConfigurationError} `raw_body_required` for a parsed object
 */
export function readClaimedBody(body: string | Uint8Array, scheme: SignatureScheme): ClaimedBody {
  // Always cut the signature out, whatever is signed: two of them are refused under every scheme.
  const { value, unsignedText, claim } = parseSignedBody(decodeBody(body), scheme.encoding);
  return { value, text: canonicalText(scheme, { unsignedText, value }), json: unsignedText, claim };
}

/**
 * Whether the body was signed with this key. Compares in constant time. Never without a key, nor with an
 * empty one: anybody could sign with that.
 */
export function isSignedWith(key: string | undefined, body: ClaimedBody, scheme: SignatureScheme): boolean {
  return key !== undefined && key !== '' && findSigner(scheme, [key], body) === 0;
}

export function signatureMismatch(): SignatureError {
  return new SignatureError(
    'signature_mismatch',
    'The signature does not match: another key, another signature scheme, or a changed body.',
    { assumptions: ['signature-construction', 'signature-serialization', 'signature-key'] },
  );
}
