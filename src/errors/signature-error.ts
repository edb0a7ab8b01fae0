import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `body_not_utf8`, `body_not_json`, `body_not_object`: the body is not a JSON object in UTF-8.
 * - `body_too_deep`: nested too deeply for a scheme that signs the parsed value.
 * - `body_ambiguous`: holds `-0` or a number out of range (`1e999`), and the scheme signs the parsed value: under it
 *   `0` and `null` would have the same signature.
 * - `signature_missing`: no top-level `signature` member.
 * - `signature_duplicated`: more than one top-level `signature` member.
 * - `signature_malformed`: not a string, or not a SHA-512 digest in the scheme's encoding.
 * - `signature_mismatch`: well formed, but made with another key or scheme, or over another body.
 */
export type SignatureErrorCode =
  | 'body_not_utf8'
  | 'body_not_json'
  | 'body_not_object'
  | 'body_too_deep'
  | 'body_ambiguous'
  | 'signature_missing'
  | 'signature_duplicated'
  | 'signature_malformed'
  | 'signature_mismatch';

/**
 * A body could not be verified. Holds neither the body, nor a key, nor the expected signature.
 */
export class SignatureError extends PartnerExchangeError {
  readonly code: SignatureErrorCode;
  /** Ids of the assumptions (see the ledger) that may be wrong: a wrong assumption looks like a forgery. */
  readonly assumptions: readonly string[];

  constructor(code: SignatureErrorCode, message: string, options?: { assumptions?: readonly string[] }) {
    super('SignatureError', message);
    this.code = code;
    this.assumptions = options?.assumptions ?? [];
  }
}

/** True for a {@link SignatureError}, also of another copy of the package. */
export function isSignatureError(error: unknown): error is SignatureError {
  return kindOf(error) === 'SignatureError';
}
