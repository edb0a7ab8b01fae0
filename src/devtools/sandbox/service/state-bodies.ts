import type { OrderEventName } from '../../../events/order-event.ts';
import type { JsonObject } from '../../../internal/json.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import type { SandboxOrder, SandboxOrderState } from '../world/order-registry.ts';

/** The event that each state posts. */
export const eventNames = {
  created: 'event.buy.init',
  fiat_received: 'event.buy.received.fiat',
  no_kyc: 'event.buy.received.fiat_kyc_error',
  third_party_payment: 'event.buy.received.fiat_kyc_error',
  third_party_error: 'event.buy.third_party_error',
  credited: 'event.buy.credited.crypto',
  refunded: 'buy.event.close',
} as const satisfies Record<SandboxOrderState, OrderEventName>;

/** The unsigned body of the event for an order's current state, under the published names. */
export function orderEventBody(order: SandboxOrder, options: SandboxSettings): JsonObject {
  const body = { event_name: eventNames[order.state], ...orderRecord(order) };
  switch (order.state) {
    case 'no_kyc':
      return { ...body, ...noKyc(order, options) };
    case 'third_party_payment':
      return { ...body, ...thirdPartyPayment(options) };
    case 'refunded':
      return { ...body, ...refund(order) };
    case 'created':
    case 'fiat_received':
    case 'third_party_error':
    case 'credited':
      return body;
  }
}

/** The members of every event, in the order of the contract's table. The reply to the order has the same. */
export function orderRecord(order: SandboxOrder): JsonObject {
  return {
    partner_order_id: order.partner_order_id,
    platform_order_ref: order.platform_order_ref,
    // Exact: an amount that a number cannot hold was refused.
    fiat_amount_to_pay: Number(order.fiat_amount),
    crypto_amount_to_receive: order.crypto_amount_to_receive,
    exchange_rate: Number(order.exchange_rate),
    pair: order.pair,
    fiat_currency: order.fiat_currency,
    buyer_crypto_address: order.buyer_crypto_address,
    chain: order.chain,
    fiat_payment_status: order.fiat_payment_status,
    crypto_payment_status: order.crypto_payment_status,
    payer_into_account: { ...order.payer_into_account },
    payment_link: order.payment_link,
    crypto_txn_hash: order.crypto_txn_hash,
    partner_callback_url: order.partner_callback_url,
    transactional_kyc: { ...order.transactional_kyc },
  };
}

function noKyc(order: SandboxOrder, options: SandboxSettings): JsonObject {
  const { first_name, last_name } = order.transactional_kyc;
  return {
    created_at: timestamp(options),
    sender_name: `${first_name} ${last_name}`.trim() || 'Sandbox Buyer',
    default_kyc_url: `https://kyc.example/${order.platform_order_ref}`,
    message: 'The buyer has not done KYC: ask the buyer to perform it at default_kyc_url.',
    kyc_error_type: 'NO_KYC',
  };
}

function thirdPartyPayment(options: SandboxSettings): JsonObject {
  return {
    created_at: timestamp(options),
    sender_name: 'Sandbox Third Party',
    default_kyc_url: null,
    message: "The payer's account name differs from the name of the transactional KYC.",
    kyc_error_type: 'THIRD_PARTY_PAYMENT',
  };
}

function refund(order: SandboxOrder): JsonObject {
  return {
    exchange_rate: order.exchange_rate,
    // Contract: both are null in the close event.
    payment_link: null,
    crypto_txn_hash: null,
    meta_data: {
      status: 'refunded',
      message: 'The order is closed and the payment refunded.',
      refund_account: order.refund_account,
      amount_refunded: order.fiat_amount,
      fee: 0,
    },
  };
}

function timestamp(options: SandboxSettings): string {
  return new Date(options.now()).toISOString();
}
