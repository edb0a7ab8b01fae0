/** The keys of the partner whose events the tests post: those of `P-1` in the programs for many partners. */
export const partnerCredentials = {
  partnerId: 'P-1',
  partnerCode: 'acme',
  partnerPublicKey: 'pk_partner_P-1',
  partnerSecretKey: 'sk_partner_P-1',
  merchantSecretKey: 'sk_merchant_P-1',
};
