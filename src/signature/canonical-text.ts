import { SignatureError } from '../errors/signature-error.ts';
import { type BodyForms, serializationRules } from './serializations.ts';
import type { SignatureScheme } from './signature-scheme.ts';

/**
 * The text that a scheme signs. @throws {SignatureError} `body_too_deep` for a body that cannot be serialised again
 */
export function canonicalText({ serialization, joiner = '' }: SignatureScheme, body: BodyForms): string {
  if (serialization === 'as-sent') return body.excised;
  try {
    const text = serializationRules(serialization).write(body, joiner);
    // Two texts that are not well-formed Unicode may have the same digest.
    if (text.isWellFormed()) return text;
  } catch (error) {
    // Serialising is recursive, in the engine too: a text nested beyond its call stack has a typed outcome.
    if (!(error instanceof RangeError)) throw error;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be serialised again.');
  }
  throw new SignatureError('body_not_utf8', 'The body has half of a surrogate pair: it has no UTF-8 text.');
}
