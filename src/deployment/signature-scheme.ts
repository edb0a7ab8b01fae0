import { ConfigurationError } from '../errors/configuration-error.ts';

/**
 * How the secret enters the SHA-512 digest:
 * `hmac` (HMAC-SHA512 with the secret as its key), `hash-suffix` (SHA-512 of text + secret) or
 * `hash-prefix` (SHA-512 of secret + text; prone to length extension, only for a service that insists on it).
 */
export type Construction = 'hmac' | 'hash-suffix' | 'hash-prefix';

/**
 * Which text is signed.
 *
 * - `as-sent`: the body's own text with the top-level `signature` member cut out. Loses nothing.
 * - `compact`: `JSON.stringify` of the parsed body without `signature`. Loses number spelling (`10.0`, `1e2`,
 *   integers beyond 2^53), string escapes (`\/`, `\u00e9`), spacing, repeated members, and the place of
 *   integer-like names (they move to the front).
 * - `sorted`: as `compact`, with the members of every object sorted by UTF-16 code unit. Loses the same, but
 *   keeps integer-like names in code unit order.
 */
export type Serialization = 'as-sent' | 'compact' | 'sorted';

/** How the 64 digest bytes are written: lower-case hex, upper-case hex, or padded standard base64. */
export type Encoding = 'hex' | 'hex-upper' | 'base64';

/** The signature construction of a deployment: plain data, so that it can be stored and compared. */
export interface SignatureScheme {
  readonly construction: Construction;
  readonly serialization: Serialization;
  readonly encoding: Encoding;
}

const allowed = {
  construction: ['hmac', 'hash-suffix', 'hash-prefix'],
  serialization: ['as-sent', 'compact', 'sorted'],
  encoding: ['hex', 'hex-upper', 'base64'],
} as const satisfies { [Part in keyof SignatureScheme]: readonly SignatureScheme[Part][] };

/**
 * HMAC-SHA512 keyed with the secret, over the text as sent, in lower-case hex.
 *
 * The contract leaves the construction open ("not shown", Authentication 8): this default is assumed, except
 * for the encoding, which is reported.
 */
export const defaultScheme: SignatureScheme = Object.freeze({
  construction: 'hmac',
  serialization: 'as-sent',
  encoding: 'hex',
});

const checked = new WeakSet<SignatureScheme>([defaultScheme]);

/** The scheme itself when it is sound. @throws {ConfigurationError} `invalid_scheme` */
export function checkScheme(scheme: SignatureScheme): SignatureScheme {
  if (checked.has(scheme)) return scheme;
  for (const part of ['construction', 'serialization', 'encoding'] as const) {
    const options: readonly string[] = allowed[part];
    if (!options.includes(scheme?.[part])) {
      throw new ConfigurationError(
        'invalid_scheme',
        `The signature scheme's ${part} must be one of ${options.join(', ')}.`,
        { assumptions: ['signature-construction'] },
      );
    }
  }
  if (Object.isFrozen(scheme)) checked.add(scheme);
  return scheme;
}
