import { ValidationError } from '../errors/errors.ts';
import { findNonJson, isJsonObject, type JsonObject } from '../internal/json.ts';
import { writeSignature } from './digest.ts';
import { canonicalText, serializationRules, withoutSignature } from './serializations.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from './signature-scheme.ts';
import { checkVerificationKey } from './verify-body.ts';

/** Options of {@link signBody}. */
export interface SignOptions {
  /** The secret text; {@link signingKey} says which one signs what. */
  key: string;
  /** @default {@link defaultScheme} */
  scheme?: SignatureScheme | undefined;
}

/** A signed body: post `text` exactly as it is. */
export interface SignedBody {
  /** The body's JSON with its `signature` member last. */
  readonly text: string;
  /** The value of that member. */
  readonly signature: string;
}

/**
 * Serialises a body once, signs it under the scheme, and adds the signature to exactly that text.
 *
 * A `signature` member that the body already has is replaced: the contract ignores it when signing (Authentication 4).
 *
 * JavaScript may have rounded an integer beyond 2^53 or a decimal of more than 15 digits: give exact values as text, as
 * the contract does. Where a service insists on a JSON number, `JSON.rawJSON('12345678901234567890')` writes its digits,
 * on runtimes that have it (Node does) and under a scheme that signs the text.
 *
 * @throws {ValidationError} for a body that is not plain JSON data (`NaN`, a `Date`, a circle)
 * @throws {ConfigurationError} `invalid_scheme`, or `invalid_credentials` for an empty key
 * @example
 * ```ts
 * const { text } = signBody({ partner_order_id: 'A-1' }, { key: signingKey(credentials, 'order') });
 * await fetch(url, { method: 'POST', body: text });
 * ```
 */
export function signBody(body: JsonObject, options: SignOptions): SignedBody {
  const scheme = checkScheme(options.scheme ?? defaultScheme);
  const key = checkVerificationKey(options.key);
  if (!isJsonObject(body)) {
    throw new ValidationError('The body to sign', [{ path: [], message: 'must be an object' }]);
  }
  const issue = findNonJson(body);
  if (issue) throw new ValidationError('The body to sign', [issue]);
  // Nearly no body has one, and a copy costs a tenth of the time.
  const json = JSON.stringify(Object.hasOwn(body, 'signature') ? withoutSignature(body) : body);
  // A getter could return something else the second time, so the value that is signed is read from the text.
  const { reads } = serializationRules(scheme.serialization);
  const value = reads === 'value' ? (JSON.parse(json) as JsonObject) : body;
  const signed = canonicalText(scheme, { json, value });
  const signature = writeSignature(scheme, key, signed);
  const separator = json === '{}' ? '' : ',';
  return { text: `${json.slice(0, -1)}${separator}"signature":"${signature}"}`, signature };
}
