import { ConfigurationError } from '../errors/errors.ts';
import { type Serialization, serializationRules, serializations } from './serializations.ts';

/** @inline */
export type Construction = 'hmac' | 'hash-suffix' | 'hash-prefix';

/** @inline */
export type Encoding = 'hex' | 'hex-upper' | 'base64' | 'base64-hex';

/** @inline */
export type OrderKey = 'merchant+partner' | 'partner+merchant' | 'merchant' | 'partner' | 'public+partner';

/** The signature construction of a deployment: plain data, so that it can be stored and compared. */
export interface SignatureScheme {
  /**
   * How the secret enters the SHA-512 digest: `hmac` (HMAC-SHA512 with the secret as its key), `hash-suffix` (SHA-512
   * of text + secret) or `hash-prefix` (secret + text; prone to length extension, only for a service that insists on it).
   */
  readonly construction: Construction;
  /** Which text is signed. */
  readonly serialization: Serialization;
  /**
   * How the 64 digest bytes are written: hex in either case, padded standard base64, or base64 of the lower-case
   * hex text.
   */
  readonly encoding: Encoding;
  /** Between secret and text; not for `hmac`. @default '' */
  readonly separator?: string | undefined;
  /** Between the values of `values`. @default '' */
  readonly joiner?: string | undefined;
  /**
   * The key for orders and order events: `merchant+partner` is published, `public+partner` (public key and partner
   * secret) is reported, the others are for services that differ. General requests use the partner secret.
   * @default 'merchant+partner'
   */
  readonly orderKey?: OrderKey | undefined;
  /** Between the two parts of the key for orders. @default '' */
  readonly keySeparator?: string | undefined;
}

/** Every allowed value of the required parts of a scheme, and of `orderKey`. */
export const schemeParts = {
  construction: ['hmac', 'hash-suffix', 'hash-prefix'],
  // Sound: the registry is checked against the type below.
  serialization: Object.keys(serializations) as readonly Serialization[],
  encoding: ['hex', 'hex-upper', 'base64', 'base64-hex'],
  orderKey: ['merchant+partner', 'partner+merchant', 'merchant', 'partner', 'public+partner'],
} as const satisfies { [Part in keyof SignatureScheme]?: readonly SignatureScheme[Part][] };

const textParts = ['separator', 'joiner', 'keySeparator'] as const;

export const schemePartNames = [
  'construction',
  'serialization',
  'encoding',
  'orderKey',
  ...textParts,
] as const satisfies readonly (keyof SignatureScheme)[];

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

/** @throws {ConfigurationError} `invalid_scheme` */
export function checkScheme(scheme: SignatureScheme): SignatureScheme {
  if (checked.has(scheme)) return scheme;
  for (const [part, allowed] of Object.entries({
    ...schemeParts,
    orderKey: [...schemeParts.orderKey, undefined],
  })) {
    // Sound: the names are those of the type, and only compared.
    const value: unknown = scheme?.[part as keyof SignatureScheme];
    if (!allowed.some((one) => one === value)) throw invalid(`${part} must be one of ${allowed.join(', ')}`);
  }
  for (const part of textParts) {
    if (scheme[part] !== undefined && typeof scheme[part] !== 'string') throw invalid(`${part} must be text`);
  }
  if (scheme.separator && scheme.construction === 'hmac') throw invalid('separator has no place in an HMAC');
  if (scheme.joiner && !serializationRules(scheme.serialization).takesJoiner)
    throw invalid('joiner is for values only');
  if (Object.isFrozen(scheme)) checked.add(scheme);
  return scheme;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_scheme', `The signature scheme's ${message}.`, {
    assumptions: ['signature-construction'],
  });
}
