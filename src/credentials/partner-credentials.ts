/**
 * What the service issues to a partner (contract: Partner credentials).
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
