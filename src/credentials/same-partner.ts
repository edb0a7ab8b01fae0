/** What a configuration calls a partner: credentials have these members, and the `key` of a verified delivery too. */
export interface PartnerNames {
  /** As in `PartnerCredentials`. */
  readonly partnerId?: string | undefined;
  /** As in `PartnerCredentials`. */
  readonly partnerCode?: string | undefined;
}

/**
 * By ID where both have one, otherwise by code. Two without any name are the same; two with no kind of name in common
 * are not.
 */
export function isSamePartner(one: PartnerNames, other: PartnerNames): boolean {
  if (one.partnerId !== undefined && other.partnerId !== undefined) return one.partnerId === other.partnerId;
  if (one.partnerCode !== undefined && other.partnerCode !== undefined)
    return one.partnerCode === other.partnerCode;
  return isNameless(one) && isNameless(other);
}

function isNameless({ partnerId, partnerCode }: PartnerNames): boolean {
  return partnerId === undefined && partnerCode === undefined;
}
