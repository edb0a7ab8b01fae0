import { ConfigurationError } from '../errors/errors.ts';

/**
 * The keys that the service issues to a partner (contract: Partner credentials).
 *
 * Every option that accepts credentials accepts a plain object; `defineCredentials` checks it at once and makes a copy
 * that does not print its secrets.
 */
export interface PartnerCredentials {
  /** Bearer token of the partner's requests; begins with `pk_partner_`. */
  readonly partnerPublicKey: string;
  /** Signs general requests; begins with `sk_partner_`. */
  readonly partnerSecretKey: string;
  /** Signs orders and order events together with the partner secret. Usually begins with `sk_merchant_` (reported: not always). */
  readonly merchantSecretKey?: string | undefined;
  /** Further merchants by a name of your choice, e.g. the currency: reported, a partner can hold one merchant per currency. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>> | undefined;
  /** Issued with the keys; sent as `x-partner-id` with orders (reported). */
  readonly partnerId?: string | undefined;
  /** The code chosen at onboarding; the default of `onboard` and `regenerateKeys`. */
  readonly partnerCode?: string | undefined;
}

type KeyName = 'partnerPublicKey' | 'partnerSecretKey' | 'merchantSecretKey';

/** How each key begins (contract: Partner credentials). */
export const keyPrefixes = {
  partnerPublicKey: 'pk_partner_',
  partnerSecretKey: 'sk_partner_',
  merchantSecretKey: 'sk_merchant_',
} as const satisfies Record<KeyName, string>;

/**
 * The merchant secret's own prefix is optional (a published sample has none), but that of another kind is refused.
 *
 * @throws {ConfigurationError} `invalid_credentials`; the message names the key and never shows it
 */
export function checkNamedKey(name: KeyName, value: unknown, label: string = name): string {
  const key = checkSecretText(value, label);
  const kind = Object.entries(keyPrefixes).find(([, prefix]) => key.startsWith(prefix));
  if (kind !== undefined && kind[0] !== name) {
    throw invalid(`${label} holds a key that begins with ${kind[1]}: are two keys swapped?`);
  }
  if (kind === undefined && name !== 'merchantSecretKey') {
    throw invalid(`${label} must begin with ${keyPrefixes[name]}.`);
  }
  if (key === keyPrefixes[name]) throw invalid(`${label} is only a prefix.`);
  return key;
}

/** Refuses blanks around it and control characters in it. */
export function checkSecretText(value: unknown, label: string): string {
  if (value === undefined || value === null || value === '') throw invalid(`${label} is missing.`);
  if (typeof value !== 'string') throw invalid(`${label} must be text.`);
  if (/^\s*Bearer\s/i.test(value)) {
    const remedy = 'Give the key alone: where the service wants that word, it is added.';
    throw invalid(`${label} begins with "Bearer".`, remedy);
  }
  if (value.trim() !== value) {
    throw invalid(`${label} has blanks or a line break around it.`, 'Trim it where it is read.');
  }
  if (/[^!-~]/.test(value)) throw invalid(`${label} has a character that no key or header can hold.`);
  return value;
}

export function invalid(what: string, remedy?: string): ConfigurationError {
  return new ConfigurationError('invalid_credentials', what, { remedy });
}

/** What a configuration calls a partner: credentials have these members, and the `key` of a verified delivery too. */
export interface PartnerNames {
  /** As in `PartnerCredentials`. */
  readonly partnerId?: string | undefined;
  /** As in `PartnerCredentials`. */
  readonly partnerCode?: string | undefined;
}

/**
 * The rotation that keys belong to, with the name of its first keys: neither ID nor code if they were stored without one.
 * It stays the same for as long as the rotation exists, also when a link adds a name.
 */
export interface KeyOrigin extends PartnerNames {
  /** Identifies the rotation. Not secret. */
  readonly rotation: string;
}

/** The partner of an order, as it was recorded. */
export interface OrderOwner extends PartnerNames {
  /** `rotation` of the origin of the keys that signed the order. */
  readonly rotation?: string | undefined;
}

/** The partner that signed a delivery: `key` of the handler's context. */
export interface EventSigner extends PartnerNames {
  /** The rotation of its keys; absent if they come from elsewhere. */
  readonly origin?: KeyOrigin | undefined;
}

/**
 * Compares the IDs where both have one, otherwise the codes. Two without any name are the same; two with no kind of name in common
 * are not, unless their keys are of one rotation. An owner that was recorded without its rotation may have the first
 * name of the signer's rotation, or its lack of one.
 */
export function isSamePartner(owner: OrderOwner, { origin, ...signer }: EventSigner): boolean {
  if (haveSameName(owner, signer)) return true;
  if (origin === undefined) return false;
  return owner.rotation === undefined ? haveSameName(owner, origin) : owner.rotation === origin.rotation;
}

function haveSameName(one: PartnerNames, other: PartnerNames): boolean {
  const kind = commonKind(one, other);
  if (kind !== undefined) return one[kind] === other[kind];
  return [one, other].every(({ partnerId, partnerCode }) => (partnerId ?? partnerCode) === undefined);
}

/** Whether the names prove that these are two partners. */
export function haveDifferentNames(one: PartnerNames, other: PartnerNames): boolean {
  const kind = commonKind(one, other);
  return kind !== undefined && one[kind] !== other[kind];
}

/** `undefined` unless the value names a rotation. Members that this version does not know are left out. */
export function readOrigin(value: unknown): KeyOrigin | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const textOf = (member: keyof KeyOrigin): string | undefined => {
    const given: unknown = Reflect.get(value, member);
    return typeof given === 'string' && given !== '' ? given : undefined;
  };
  const rotation = textOf('rotation');
  if (rotation === undefined) return undefined;
  return { rotation, ...namesOf({ partnerId: textOf('partnerId'), partnerCode: textOf('partnerCode') }) };
}

/** The members that have a value. */
export function namesOf({ partnerId, partnerCode }: PartnerNames): {
  readonly partnerId?: string;
  readonly partnerCode?: string;
} {
  return {
    ...(partnerId !== undefined && { partnerId }),
    ...(partnerCode !== undefined && { partnerCode }),
  };
}

function commonKind(one: PartnerNames, other: PartnerNames): keyof PartnerNames | undefined {
  const kinds = ['partnerId', 'partnerCode'] as const;
  return kinds.find((kind) => one[kind] !== undefined && other[kind] !== undefined);
}
