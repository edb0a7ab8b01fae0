import type { SettledCryptoStatus, ThirdPartyKycError } from './status.ts';

/** The account that the buyer pays into (contract: Buy order event record). */
export interface PayerAccount {
  /** Name of the holder. */
  account_name: string;
  /** Bank account number; for mobile money a phone number. */
  account_number: string;
  /** Name of the bank. */
  bank_name: string;
}

/** The buyer's data for KYC (contract: Buy order event record). Empty strings where nothing was given. */
export interface TransactionalKyc {
  /** The buyer's e-mail address, or an empty string. */
  email: string;
  /** The buyer's phone number, or an empty string. Its form is not stated. */
  phone: string;
  /** The buyer's first name, or an empty string. */
  first_name: string;
  /** The buyer's last name, or an empty string. */
  last_name: string;
}

/** How the refund of a closed order went (contract: Buy order event record, `meta_data` of the close event). */
export interface RefundDetails {
  /** Published is `refunded` alone (ledger: `close-status`). */
  status: 'refunded' | (string & {});
  /** A text for people to read. */
  message: string;
  /** The account that the refund went to. */
  refund_account: string;
  /** Amount paid back: a decimal as text, e.g. `'14950.00'`. Its unit is not stated (ledger: `amount-units`). */
  amount_refunded: string;
  /**
   * Fee of the refund. Its unit is not stated (ledger: `amount-units`).
   * @remarks As parsed: see `decimalLiteral`.
   */
  fee: number;
}

/** The members that the events whose bodies are shown have in common (contract: Buy order event record). */
export interface BuyOrderRecord {
  /** The order's id in your system, as given to `createOrder`. */
  partner_order_id: string;
  /**
   * The order's reference on the service. A deployment can have another name for it (ledger: `branded-names`).
   * @remarks `wireNames` of `defineDeployment` sets the name.
   */
  platform_order_ref: string;
  /**
   * Amount that the buyer pays, in units of `fiat_currency`.
   * @remarks As parsed, which may round it: for money read the exact literal, see `decimalLiteral`.
   */
  fiat_amount_to_pay: number;
  /**
   * Amount that the buyer receives, in units of the crypto currency of `pair`.
   * @remarks As parsed, which may round it: for money read the exact literal, see `decimalLiteral`.
   */
  crypto_amount_to_receive: number;
  /** `<FIAT>/<CRYPTO>`, e.g. `'NGN/USDT'`. In the close event always `'NGN/EUSD'` (contract: Events). */
  pair: string;
  /** Currency code, e.g. `'NGN'`. The full set is not shown (ledger: `allowed-values`). */
  fiat_currency: string;
  /** The address on `chain` that the crypto is credited to. */
  buyer_crypto_address: string;
  /** `<token>-<network>`, e.g. `'usdt-trc20'`. In the close event always `'eusd-mob'` (contract: Events). */
  chain: string;
  /** The account that the buyer pays into. */
  payer_into_account: PayerAccount;
  /** The address where the buyer pays by mobile money; `null` for other ways of payment, and in the close event. */
  payment_link: string | null;
  /** Hash of the crypto payment; `null` until the crypto is credited, and in the close event. */
  crypto_txn_hash: string | null;
  /** Where the events of this order are posted. */
  partner_callback_url: string;
  /** The buyer's data for KYC. */
  transactional_kyc: TransactionalKyc;
  /**
   * Signature of the body (contract: Authentication).
   * @remarks Absent in a body that has not been signed yet.
   */
  signature?: string | undefined;
}

/** The order is initialised: both statuses are `PENDING`, and there is no hash yet (contract: Events). */
export interface BuyInitEvent extends BuyOrderRecord {
  /** Name of the event. */
  event_name: 'event.buy.init';
  /**
   * Units of `fiat_currency` for one unit of crypto; the direction is not stated (ledger: `amount-units`).
   * @remarks As parsed: see `decimalLiteral`.
   */
  exchange_rate: number;
  /** The buyer has not paid, or not all. */
  fiat_payment_status: 'PENDING';
  /** No crypto is on its way. */
  crypto_payment_status: 'PENDING';
  /** Nothing is credited yet. */
  crypto_txn_hash: null;
}

/** The buyer's fiat is received: fiat `PAID`, crypto `STARTED` (contract: Events). */
export interface BuyFiatReceivedEvent extends BuyOrderRecord {
  /** Name of the event. */
  event_name: 'event.buy.received.fiat';
  /**
   * Units of `fiat_currency` for one unit of crypto; the direction is not stated (ledger: `amount-units`).
   * @remarks As parsed: see `decimalLiteral`.
   */
  exchange_rate: number;
  /** The buyer has paid. */
  fiat_payment_status: 'PAID';
  /** The crypto payment is in process. */
  crypto_payment_status: 'STARTED';
}

/**
 * The fiat is received, but the buyer's KYC check failed: `kyc_error_type` says how (contract: Events).
 *
 * Since no handler credits anything for it, a kind that the contract does not have is delivered too.
 */
export interface BuyKycErrorEvent extends BuyOrderRecord {
  /** Name of the event. */
  event_name: 'event.buy.received.fiat_kyc_error';
  /**
   * Units of `fiat_currency` for one unit of crypto; the direction is not stated (ledger: `amount-units`).
   * @remarks As parsed: see `decimalLiteral`.
   */
  exchange_rate: number;
  /** Published is `PAID` alone. */
  fiat_payment_status: 'PAID' | (string & {});
  /** Published is `STARTED` alone. */
  crypto_payment_status: 'STARTED' | (string & {});
  /** When the check failed: an ISO 8601 timestamp, as text (ledger: `timestamp-form`). */
  created_at: string;
  /** Name of the payer on the fiat payment. */
  sender_name: string;
  /** What the buyer has to do, for people to read. */
  message: string;
  /**
   * `NO_KYC`: the buyer has not done KYC. `THIRD_PARTY_ERROR` or `THIRD_PARTY_PAYMENT`: the name of the payer's account
   * differs from the KYC name (ledger: `third-party-spelling`). Or a kind that the service has added.
   * @remarks `isThirdPartyKycError` knows both spellings.
   */
  kyc_error_type: 'NO_KYC' | ThirdPartyKycError | (string & {});
  /** The address where the buyer can do KYC: published for `NO_KYC` alone, otherwise `null`. */
  default_kyc_url: string | null;
}

/**
 * A payment by a third party. The contract lists the name only: that the body has the common members is assumed, so
 * each may be absent or null (ledger: `third-party-error-body`).
 */
export interface BuyThirdPartyErrorEvent {
  /** Name of the event (contract: Events). */
  event_name: 'event.buy.third_party_error';
  /** The order's id in your system, as given to `createOrder`. Assumed. */
  partner_order_id?: string | null | undefined;
  /** The order's reference on the service. Assumed. */
  platform_order_ref?: string | null | undefined;
  /**
   * Amount that the buyer pays, in units of `fiat_currency`. Assumed.
   * @remarks As parsed: see `decimalLiteral`.
   */
  fiat_amount_to_pay?: number | null | undefined;
  /**
   * Amount that the buyer receives, in units of the crypto currency of `pair`. Assumed.
   * @remarks As parsed: see `decimalLiteral`.
   */
  crypto_amount_to_receive?: number | null | undefined;
  /** Units of `fiat_currency` for one unit of crypto, as a number or as text. Assumed. */
  exchange_rate?: number | string | null | undefined;
  /** `<FIAT>/<CRYPTO>`. Assumed. */
  pair?: string | null | undefined;
  /** Currency code. Assumed. */
  fiat_currency?: string | null | undefined;
  /** The address on `chain` that the crypto would be credited to. Assumed. */
  buyer_crypto_address?: string | null | undefined;
  /** `<token>-<network>`. Assumed. */
  chain?: string | null | undefined;
  /** How far the fiat payment is: any text. Assumed. */
  fiat_payment_status?: string | null | undefined;
  /** How far the crypto payment is: any text. Assumed. */
  crypto_payment_status?: string | null | undefined;
  /** The account that was paid into; each of its members may be absent. Assumed. */
  payer_into_account?: PartOf<PayerAccount> | null | undefined;
  /** The address where the buyer pays by mobile money. Assumed. */
  payment_link?: string | null | undefined;
  /** Hash of the crypto payment. Assumed. */
  crypto_txn_hash?: string | null | undefined;
  /** Where the events of this order are posted. Assumed. */
  partner_callback_url?: string | null | undefined;
  /** The buyer's data for KYC; each of its members may be absent. Assumed. */
  transactional_kyc?: PartOf<TransactionalKyc> | null | undefined;
  /**
   * Signature of the body (contract: Authentication).
   * @remarks Absent in a body that has not been signed yet.
   */
  signature?: string | undefined;
}

/** The crypto is credited: `crypto_txn_hash` is set (contract: Events). */
export interface BuyCreditedEvent extends BuyOrderRecord {
  /** Name of the event. */
  event_name: 'event.buy.credited.crypto';
  /**
   * Units of `fiat_currency` for one unit of crypto; the direction is not stated (ledger: `amount-units`).
   * @remarks As parsed: see `decimalLiteral`.
   */
  exchange_rate: number;
  /** The buyer has paid. */
  fiat_payment_status: 'PAID';
  /**
   * In any of the reported spellings (ledger: `terminal-crypto-status`); one that `eventStatuses` names is read as `PAID`.
   * @remarks `isSettledStatus` knows all.
   */
  crypto_payment_status: SettledCryptoStatus;
  /** Hash of the crypto payment. */
  crypto_txn_hash: string;
}

/** The order is closed with a refund (contract: Events). */
export interface BuyCloseEvent extends BuyOrderRecord {
  /** Name of the event. */
  event_name: 'buy.event.close';
  /**
   * Units of `fiat_currency` for one unit of crypto, as text in this event only; the direction is not stated (ledger:
   * `amount-units`).
   */
  exchange_rate: string;
  /** Not fixed by the contract: any text. */
  fiat_payment_status: string;
  /** Not fixed by the contract: any text. */
  crypto_payment_status: string;
  /** How the refund went. */
  meta_data: RefundDetails;
}

/** Any or none of the members; `undefined` too, as a schema produces it. @inline */
type PartOf<Members> = { [Name in keyof Members]?: Members[Name] | undefined };
