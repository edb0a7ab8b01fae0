import { fromWireNames, type WireNames } from '../deployment/wire-names.ts';
import type { PayerAccount } from '../events/event-types.ts';
import { isJsonObject } from '../internal/json.ts';
import type { Reply } from './reply.ts';

/**
 * A reply that accepted an order. The contract shows these members in the events of an order, and no reply: that a reply
 * has them, at the top or one object deeper, is assumed (ledger: `replies`). One that is missing or has another form is
 * absent here; `body` has everything that the service wrote.
 */
export interface AcceptedOrderReply<Body = unknown> extends Reply<Body> {
  /** The account that the buyer pays into, with those of its members that are texts (contract: Buy order event record). */
  readonly payer_into_account?: Readonly<Partial<PayerAccount>> | undefined;
  /** Where the buyer pays by mobile money; `null` for other ways of payment (contract: Buy order event record). */
  readonly payment_link?: string | null | undefined;
  /**
   * The order's reference on the service (contract: Buy order event record), under the name of the deployment's
   * `wireNames`.
   */
  readonly platform_order_ref?: string | undefined;
}

type PaymentMembers = Pick<AcceptedOrderReply, 'payer_into_account' | 'payment_link' | 'platform_order_ref'>;

/** Reads what a body tells a buyer. Never throws: the order exists, whatever its reply looks like. */
export function paymentMembers(body: unknown, names: WireNames): PaymentMembers {
  if (!isJsonObject(body)) return {};
  const inner = Object.values(body).filter(isJsonObject);
  const objects = [body, ...inner].map((object) => fromWireNames(object, names));
  /** The first of its name that has its form. */
  const member = <Value>(name: keyof PaymentMembers, read: (value: unknown) => Value | undefined) =>
    objects.map((object) => read(object[name])).find((value) => value !== undefined);
  return {
    payer_into_account: member('payer_into_account', accountOf),
    payment_link: member('payment_link', (link) => (link === null ? null : textOf(link))),
    platform_order_ref: member('platform_order_ref', textOf),
  };
}

function accountOf(value: unknown): Partial<PayerAccount> | undefined {
  if (!isJsonObject(value)) return undefined;
  const names = ['account_name', 'account_number', 'bank_name'] as const;
  const members = names.flatMap((name) => (textOf(value[name]) ? [[name, value[name]]] : []));
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
