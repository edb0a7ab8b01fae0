import type { JsonObject } from '../../json/json-value.ts';
import type { SandboxOrderState } from './order-steps.ts';

/** A snapshot of an order. Members have the contract's names where it gives them. */
export interface SandboxOrder {
  readonly partnerId: string;
  readonly partner_order_id: string;
  readonly platform_order_ref: string;
  readonly state: SandboxOrderState;
  /** Decimal text, exactly as ordered, in units of `fiat_currency`. */
  readonly fiat_amount: string;
  /** Decimal text, units of `fiat_currency` for one unit of the crypto currency. */
  readonly exchange_rate: string;
  readonly crypto_amount_to_receive: number;
  /** `<FIAT>/<CRYPTO>` */
  readonly pair: string;
  readonly fiat_currency: string;
  readonly chain: string;
  readonly buyer_crypto_address: string;
  readonly fiat_payment_status: string;
  readonly crypto_payment_status: string;
  readonly payer_into_account: {
    readonly account_name: string;
    readonly account_number: string;
    readonly bank_name: string;
  };
  readonly payment_link: string | null;
  readonly crypto_txn_hash: string | null;
  readonly partner_callback_url: string;
  readonly transactional_kyc: {
    readonly email: string;
    readonly phone: string;
    readonly first_name: string;
    readonly last_name: string;
  };
  /** Empty when the order has none. */
  readonly refund_account: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The body of the order as received, with the published names and without its signature. */
  readonly payload: JsonObject;
}
