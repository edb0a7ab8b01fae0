import { ConfigurationError } from '../errors/configuration-error.ts';

/**
 * How the secret enters the SHA-512 digest: `hmac` (HMAC-SHA512 with the secret as its key), `hash-suffix`
 * (SHA-512 of text + secret), `hash-prefix` (secret + text; prone to length extension, only for a service that
 * insists on it) or `hash-both` (secret + text + secret).
 */
export type Construction = 'hmac' | 'hash-suffix' | 'hash-prefix' | 'hash-both';

/**
 * Which text is signed. "The body" is the body without its top-level `signature`.
 *
 * - `as-sent`: the body's own text, with the member cut out. Loses nothing.
 * - `compact`: `JSON.stringify` of the parsed body. Loses number spelling (`10.0`, `1e2`, integers beyond 2^53),
 *   string escapes (`\/`, `\u00e9`), spacing, repeated members, and the place of integer-like names (they move to
 *   the front).
 * - `sorted`: as `compact`, with the members of every object sorted by UTF-16 code unit. Loses the same, but keeps
 *   integer-like names in code unit order.
 * - `sorted-shallow`: as `sorted`, for the outermost object only; those inside stay as in `compact`.
 *
 * The rest keep numbers as they are spelled and, unless sorted, members where they stand:
 *
 * - `python`: `json.dumps`: `", "` and `": "` between, everything beyond ASCII as `\uXXXX`.
 * - `python-sorted`: `json.dumps(sort_keys=True)`: by code point, in every object.
 * - `php`: `json_encode`: no spaces, `/` as `\/`, everything beyond ASCII as `\uXXXX`.
 * - `values`: the values of the outermost object, in code unit order of their names, with `joiner` between. Texts
 *   stand without quotes, null as nothing, objects and arrays as compact JSON.
 * - `values-as-sent`: the same in the order in which they were sent.
 * - `query`: `name=value&name=value` in code unit order of the names; values as in `values`, not percent-encoded.
 *   Under these three a signature does not pin the body: whoever holds one can move text across the borders of
 *   members (`"a":"1&b=2"` signs as `"a":"1","b":"2"`). Compare what matters with your own record of the order.
 * - `base64`, `base64-compact`, `base64-sorted`: base64 of the UTF-8 bytes of `as-sent`, `compact`, `sorted`.
 */
export type Serialization =
  | 'as-sent'
  | 'compact'
  | 'sorted'
  | 'sorted-shallow'
  | 'python'
  | 'python-sorted'
  | 'php'
  | 'values'
  | 'values-as-sent'
  | 'query'
  | 'base64'
  | 'base64-compact'
  | 'base64-sorted';

/**
 * How the 64 digest bytes are written: hex in either case, padded standard base64, unpadded base64url, or base64 of
 * the lower-case hex text.
 */
export type Encoding = 'hex' | 'hex-upper' | 'base64' | 'base64url' | 'base64-hex';

/**
 * Of what the key for orders is made. `merchant+partner` is published; `public+partner` is the reported variant
 * (public key and partner secret); the others are for services that do otherwise.
 */
export type OrderKey = 'merchant+partner' | 'partner+merchant' | 'merchant' | 'partner' | 'public+partner';

/** The signature construction of a deployment: plain data, so that it can be stored and compared. */
export interface SignatureScheme {
  readonly construction: Construction;
  readonly serialization: Serialization;
  readonly encoding: Encoding;
  /** Stands between secret and text; not for `hmac`. @default '' */
  readonly separator?: string | undefined;
  /** Stands between the values of `values` and `values-as-sent`. @default '' */
  readonly joiner?: string | undefined;
  /** The key for orders and order events; general requests use the partner secret. @default 'merchant+partner' */
  readonly orderKey?: OrderKey | undefined;
  /** Stands between the two parts of the key for orders. @default '' */
  readonly keySeparator?: string | undefined;
}

/** Every value of the parts that a scheme must have, and of `orderKey`. */
export const schemeParts = {
  construction: ['hmac', 'hash-suffix', 'hash-prefix', 'hash-both'],
  serialization: [
    'as-sent',
    'compact',
    'sorted',
    'sorted-shallow',
    'python',
    'python-sorted',
    'php',
    'values',
    'values-as-sent',
    'query',
    'base64',
    'base64-compact',
    'base64-sorted',
  ],
  encoding: ['hex', 'hex-upper', 'base64', 'base64url', 'base64-hex'],
  orderKey: ['merchant+partner', 'partner+merchant', 'merchant', 'partner', 'public+partner'],
} as const satisfies { [Part in keyof SignatureScheme]?: readonly SignatureScheme[Part][] };

const textParts = ['separator', 'joiner', 'keySeparator'] as const;

/** Every part that a scheme may have. */
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

/** The scheme itself when it is sound. @throws {ConfigurationError} `invalid_scheme` */
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
  if (scheme.joiner && !scheme.serialization.startsWith('values')) throw invalid('joiner is for values only');
  if (Object.isFrozen(scheme)) checked.add(scheme);
  return scheme;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_scheme', `The signature scheme's ${message}.`, {
    assumptions: ['signature-construction'],
  });
}
