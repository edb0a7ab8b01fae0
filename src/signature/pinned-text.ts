import { canonicalText } from './canonical-text.ts';
import { serializationRules } from './serializations.ts';
import type { SignatureScheme } from './signature-scheme.ts';
import type { VerifiedBody } from './verify-body.ts';

/**
 * A text that is the same for every spelling of one delivery, and another for every other delivery: what the
 * signature pins, and under schemes that do not pin the whole body, what the body says as well.
 *
 * Such schemes join values, so whoever holds a signed body can move text from one member to the next and keep the
 * signature. The signed text alone would take the two bodies for one. The body as it was sent would take the same body
 * with other white space for a new one. So the body is written in one form: members sorted, no white space, one
 * spelling for each character, and numbers as they were spelled, since their spelling is signed.
 *
 * @throws {SignatureError} `body_too_deep` for a body that cannot be serialised again
 */
export function pinnedText(
  scheme: SignatureScheme,
  { value, text, json }: Pick<VerifiedBody, 'value' | 'text' | 'json'>,
): string {
  if (serializationRules(scheme.serialization).pins === 'json') return text;
  const content = canonicalText({ ...scheme, serialization: 'python-sorted' }, { unsignedText: json, value });
  // With its length before it, so that no other pair of texts gives the same one.
  return `${text.length}:${text}${content}`;
}
