/**
 * Whether a payout address is possible on its chain: checksums, offline.
 *
 * @module partner-exchange-sdk/addresses
 */

export { ConfigurationError, isConfigurationError } from '../../errors/errors.ts';
export { type AddressForm, type AddressForms, addressForms } from './address-forms.ts';
export type { AddressReason, AddressVerdict } from './address-reasons.ts';
export { type AddressCheck, type CheckAddressOptions, checkAddress } from './check-address.ts';
