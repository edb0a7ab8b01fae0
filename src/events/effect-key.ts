import type { EventSigner } from '../credentials/partner-credentials.ts';
import type { OrderEvent } from './order-event.ts';
import { isThirdPartyKycError } from './status.ts';

/**
 * The name of what an event asks you to do once: its order and its step, such as `A-1001/event.buy.credited.crypto`.
 * Write it and the effect in one transaction of your database, in a table where it is unique; then no repetition, no
 * second spelling of the same credit and no replay repeats the effect.
 *
 * The `digest` of the context is no such guard: it names one text, and two authentic texts can report one credit
 * (`crypto_payment_status` `PAID`, then `Completed`).
 *
 * A KYC error also has its kind, of which both spellings of the third-party error are one, and a close its status unless
 * that is `refunded`: a close of another kind does not stand for the refund. Characters other than letters, digits, `.`, `_`, `~` and `-` are written as `%` and four hexadecimal digits, so no two orders or partners
 * share a key, and every key is printable ASCII.
 *
 * @param context of the handler, if you serve several partners: `partnerId` of its `key`, or else `partnerCode`, comes
 *   first, since two partners may use one order id. For keys of a rotation it is the name of its first keys, or none if
 *   they had none, so a name that a link adds later changes nothing. With other credentials, a name that you add or
 *   change later makes other keys than before.
 * @returns `undefined` for an event without a `partner_order_id` (only `event.buy.third_party_error` may lack one)
 * @example
 * ```ts
 * webhooks.on('event.buy.credited.crypto', (event) =>
 *   database.transaction(() => {
 *     if (insertIfNew(effectKey(event))) credit(event.partner_order_id);
 *   }),
 * );
 * ```
 */
export function effectKey(event: OrderEvent, context?: { readonly key: EventSigner }): string | undefined {
  const { partner_order_id: order, event_name } = event;
  if (typeof order !== 'string' || order === '') return undefined;
  return [...partnerOf(context?.key), escaped(order), event_name, ...kindOf(event)].join('/');
}

/** An order id cannot be taken for it: there `=` is escaped. */
function partnerOf(key: EventSigner = {}): readonly string[] {
  const { partnerId, partnerCode } = key.origin ?? key;
  if (partnerId !== undefined) return [`id=${escaped(partnerId)}`];
  return partnerCode === undefined ? [] : [`code=${escaped(partnerCode)}`];
}

function kindOf(event: OrderEvent): readonly string[] {
  if (event.event_name === 'event.buy.received.fiat_kyc_error')
    return [
      isThirdPartyKycError(event.kyc_error_type) ? 'THIRD_PARTY_PAYMENT' : escaped(event.kyc_error_type),
    ];
  if (event.event_name === 'buy.event.close' && event.meta_data.status.toLowerCase() !== 'refunded')
    return [escaped(event.meta_data.status)];
  return [];
}

/** Escapes UTF-16 units, so half of a surrogate pair has a text of its own too. */
function escaped(part: string): string {
  return part.replace(/[^\w.~-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
