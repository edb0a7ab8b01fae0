import { OrderError } from '../errors/errors.ts';
import type { UnrecognizedEvent } from '../events/parse-order-event.ts';
import { isJsonObject } from '../internal/json.ts';
import { printableText, quotedName } from '../internal/printable-text.ts';
import { warnOnce } from '../internal/warn.ts';
import { isFilled } from './order-differences.ts';

/** A verified event: that of a webhook handler, or what `onUnrecognized` gets, whose `body` counts. */
export type ObservedEvent =
  | UnrecognizedEvent
  | { readonly partner_order_id?: unknown; readonly platform_order_ref?: unknown };

/** What `onUnrecognized` passes. A published event names its order itself. */
export function isUnrecognizedEvent(event: ObservedEvent): event is UnrecognizedEvent {
  const kind = memberOf(event, 'kind');
  return (kind === 'unknown' || kind === 'nonconforming') && !isFilled(memberOf(event, 'partner_order_id'));
}

/** The members of an event: its own, or those of its body if it was not recognized. */
export function namedBody(event: ObservedEvent): unknown {
  return isUnrecognizedEvent(event) ? event.body : event;
}

/** The id of the order that an event names, if it names one that can be read. */
export function orderNamedBy(event: ObservedEvent): string | undefined {
  const id = memberOf(namedBody(event), 'partner_order_id');
  if (isFilled(id)) return id;
  if (id !== undefined && id !== null)
    warnOnce('An order journal cannot tell which order an event is of: its partner_order_id is no text.');
  return undefined;
}

/**
 * Makes the error by which a handler refuses an authentic event that is not about an order of its own: one of another
 * partner, of another program, or about something else than what was ordered. An inbox makes a dead letter of the event
 * at the first attempt, for a person to replay or discard; a receiver without one answers 500.
 *
 * @param why a clause for the person, such as `'the order is of another partner'`: nothing personal, up to 200 characters
 * @example
 * ```ts
 * webhooks.onAny(async (event, context) => {
 *   const { result } = await journal.observe(event, context);
 *   if (result === 'unknown_order' || result === 'other_partner') throw refusedEvent(event, result);
 * });
 * ```
 */
export function refusedEvent(event: ObservedEvent, why: string): OrderError {
  const id = orderNamedBy(event) ?? '';
  const what = `An authentic event of order ${quotedName(id)} was refused by a handler: ${printableText(why).slice(0, 200)}.`;
  const remedy = 'Find out whose order it is; if the event is right, replay it.';
  return new OrderError('order_mismatch', what, { partner_order_id: id, remedy });
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
