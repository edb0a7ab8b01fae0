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
 * By ID where both have one, otherwise by code. Two without any name are the same; two with no kind of name in common
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
  return kind === undefined ? isNameless(one) && isNameless(other) : one[kind] === other[kind];
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

function isNameless({ partnerId, partnerCode }: PartnerNames): boolean {
  return partnerId === undefined && partnerCode === undefined;
}
