import { canonicalText } from './canonical-text.ts';
import { parseSignedBody } from './parse-signed-body.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from './signature-scheme.ts';
import type { VerifiedBody } from './verify-body.ts';

/**
 * What `verifyBody` returned for a body that was verified on arrival and stored since. Its keys may have been rotated
 * meanwhile, so the signature is not checked again: never pass it a body from outside.
 */
export function parseVerifiedBody(
  body: string,
  scheme: SignatureScheme = defaultScheme,
): Pick<VerifiedBody, 'value' | 'text' | 'json'> {
  const checked = checkScheme(scheme);
  const { value, unsignedText } = parseSignedBody(body, checked.encoding);
  return { value, text: canonicalText(checked, { unsignedText, value }), json: unsignedText };
}
