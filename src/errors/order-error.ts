import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * What an order journal knows of an order.
 *
 * - `prepared`: to be sent; no request was made.
 * - `sending`: a process is sending it.
 * - `accepted`: the service has it.
 * - `refused`: the service said that it did not take it.
 * - `not_sent`: no request reached the service.
 * - `unknown`: a request was made, and nothing tells yet whether the service has it.
 * - `abandoned`: a person decided that there is no such order.
 */
export type OrderState =
  | 'prepared'
  | 'sending'
  | 'accepted'
  | 'refused'
  | 'not_sent'
  | 'unknown'
  | 'abandoned';

/**
 * - `different_order`: the id stands for an order with another payload or merchant.
 * - `in_progress`: another call, maybe of another process, is sending it: see `retryAfterMs`.
 * - `outcome_unknown`: the service may have it. It is not sent again; an event or a person settles it.
 * - `order_refused`: the service refused it before. Change it, or send it with `again`.
 * - `order_abandoned`: a person gave it up. Use a new id.
 * - `order_not_found`: the journal has no order with this id.
 * - `already_settled`: the order is settled, and not in the way that was asked for.
 */
export type OrderErrorCode =
  | 'different_order'
  | 'in_progress'
  | 'outcome_unknown'
  | 'order_refused'
  | 'order_abandoned'
  | 'order_not_found'
  | 'already_settled';

export interface OrderErrorDetails {
  partner_order_id: string;
  state?: OrderState | undefined;
  retryAfterMs?: number | undefined;
  assumptions?: readonly string[] | undefined;
  cause?: unknown;
}

/** What an order journal knows of an order keeps it from doing what was asked. Holds nothing of the payload but the id. */
export class OrderError extends PartnerExchangeError {
  readonly code: OrderErrorCode;
  readonly partner_order_id: string;
  /** The state of the order; `undefined` if the journal does not have it. */
  readonly state: OrderState | undefined;
  /** Milliseconds until `in_progress` is over at the latest. */
  readonly retryAfterMs: number | undefined;
  /** Ids of the assumptions (see the ledger) behind this. */
  readonly assumptions: readonly string[];

  constructor(code: OrderErrorCode, message: string, details: OrderErrorDetails) {
    super('OrderError', message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.partner_order_id = details.partner_order_id;
    this.state = details.state;
    this.retryAfterMs = details.retryAfterMs;
    this.assumptions = details.assumptions ?? [];
  }
}

/** True for an {@link OrderError}, also of another copy of the package. */
export function isOrderError(error: unknown): error is OrderError {
  return kindOf(error) === 'OrderError';
}
