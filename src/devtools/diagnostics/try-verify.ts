import { isSignatureError, type SignatureError } from '../../errors/errors.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { type VerifiedBody, verifyBody } from '../../signature/verify-body.ts';

/** A verified body, or the error that refuses it. */
export type SignatureVerdict =
  | (VerifiedBody & { readonly refusal?: undefined })
  | ({ readonly refusal: SignatureError } & { readonly [Member in keyof VerifiedBody]?: undefined });

/**
 * Verifies a body for code that reports the result: {@link verifyBody} is for code that acts on it.
 *
 * @throws {ConfigurationError} as `verifyBody` does
 */
export function tryVerify(
  body: string | Uint8Array,
  keys: readonly string[],
  scheme: SignatureScheme,
): SignatureVerdict {
  try {
    return verifyBody(body, { key: keys, scheme });
  } catch (error) {
    if (isSignatureError(error)) return { refusal: error };
    throw error;
  }
}
