import { canonicalText } from './canonical-text.ts';
import { serializationRules } from './serializations.ts';
import type { SignatureScheme } from './signature-scheme.ts';
import type { VerifiedBody } from './verify-body.ts';

/**
 * A text that is the same for every spelling of one delivery, and differs between deliveries. It is what the signature
 * pins; under schemes that do not pin the whole body, it adds the body.
 *
 * Such schemes join values, so somebody who holds a signed body can move text from one member to the next and keep the
 * signature. The signed text alone would take the two bodies for one. The body as sent would make the same body with
 * other white space a new one. So the body is written in one form: members sorted, no white space, one spelling for
 * each character. Numbers keep their spelling, which is signed.
 *
 * @throws {SignatureError} `body_too_deep` for a body that cannot be serialised again
 */
export function pinnedText(
  scheme: SignatureScheme,
  { value, text, json }: Pick<VerifiedBody, 'value' | 'text' | 'json'>,
): string {
  if (serializationRules(scheme.serialization).pins === 'json') return text;
  const content = canonicalText({ ...scheme, serialization: 'python-sorted' }, { unsignedText: json, value });
  // The length goes first, so that no two pairs give the same text.
  return `${text.length}:${text}${content}`;
}
