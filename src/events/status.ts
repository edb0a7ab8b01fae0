/** The terminal crypto status, in one of its spellings. @useDeclaredType */
export type SettledCryptoStatus = (typeof settledCryptoStatuses)[number];
/** The third-party payment error, in one of its spellings. @useDeclaredType */
export type ThirdPartyKycError = (typeof thirdPartyKycErrors)[number];

/** Whether a `crypto_payment_status` means that the crypto is credited, in any reported spelling. */
export function isSettledStatus(status: unknown): status is SettledCryptoStatus {
  return settledCryptoStatuses.some((settled) => settled === status);
}

/** Whether a `kyc_error_type` means a payment from a third party's account, in either spelling. */
export function isThirdPartyKycError(type: unknown): type is ThirdPartyKycError {
  return thirdPartyKycErrors.some((spelling) => spelling === type);
}

/** The terminal crypto status: `PAID` in the crediting event, `Completed` in the prose, `COMPLETED` is reported. */
export const settledCryptoStatuses = ['PAID', 'Completed', 'COMPLETED'] as const;

/** The third-party payment error in both spellings of the contract. */
export const thirdPartyKycErrors = ['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT'] as const;
