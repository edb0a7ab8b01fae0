import { SignatureError } from '../errors/signature-error.ts';
import type { JsonValue } from '../json/json-value.ts';
import { type BodyForms, serializationRules } from './serializations.ts';
import type { SignatureScheme } from './signature-scheme.ts';

/**
 * The text that a scheme signs.
 *
 * @throws {SignatureError} `body_too_deep` or `body_ambiguous` for a body that cannot be serialised again,
 *   `body_not_utf8`
 */
export function canonicalText({ serialization, joiner = '' }: SignatureScheme, body: BodyForms): string {
  if (serialization === 'as-sent') return body.unsignedText;
  const { source, write } = serializationRules(serialization);
  if (source === 'value' && hasAmbiguousNumber(body.value)) {
    throw new SignatureError(
      'body_ambiguous',
      `The body has -0 or a number that is out of range, and ${serialization} would sign it as 0 or null.`,
      { assumptions: ['signature-serialization'] },
    );
  }
  try {
    const text = write(body, joiner);
    // Two texts that are not well-formed Unicode may have the same digest.
    if (text.isWellFormed()) return text;
  } catch (error) {
    // Serialising is recursive, also in the engine. Give too deep a text a typed error.
    if (!(error instanceof RangeError)) throw error;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be serialised again.');
  }
  throw new SignatureError('body_not_utf8', 'The body has half of a surrogate pair: it has no UTF-8 text.');
}

/**
 * Whether a parsed body holds a number that `JSON.stringify` writes differently: `-0` as `0`, and `1e999` (parsed as
 * Infinity) as `null`. Somebody who holds a signed body could exchange one for the other.
 */
function hasAmbiguousNumber(body: JsonValue): boolean {
  // Not recursive: a body may be nested too deeply for the call stack.
  const pending: JsonValue[] = [body];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'number') {
      if (!Number.isFinite(value) || Object.is(value, -0)) return true;
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Array.isArray(value) ? value : Object.values(value)) {
        if (typeof member === 'number' || typeof member === 'object') pending.push(member);
      }
    }
  }
  return false;
}
