/**
 * The terminal crypto status in each spelling: the crediting event carries `PAID`, the prose says `Completed`,
 * and an upper-case `COMPLETED` is reported.
 */
export const settledCryptoStatuses = ['PAID', 'Completed', 'COMPLETED'] as const;

/** The third-party payment error in both spellings of the contract. */
export const thirdPartyKycErrors = ['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT'] as const;
