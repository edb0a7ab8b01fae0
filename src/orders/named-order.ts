import { OrderError } from '../errors/errors.ts';
import type { UnrecognizedEvent } from '../events/parse-order-event.ts';
import { storableText } from '../internal/driver-error.ts';
import { isJsonObject } from '../internal/json.ts';
import { printableText, quotedName } from '../internal/printable-text.ts';
import type { ObservedEvent } from './journal-types.ts';
import { isFilled } from './order-differences.ts';

const longestRef = 200;

/** What `onUnrecognized` passes. A published event names its order itself. */
export function isUnrecognizedEvent(event: ObservedEvent): event is UnrecognizedEvent {
  const kind = memberOf(event, 'kind');
  return (kind === 'unknown' || kind === 'nonconforming') && !isFilled(memberOf(event, 'partner_order_id'));
}

/** The members of an event: its own, or those of its `body`. */
export function namedBody(event: ObservedEvent): unknown {
  return 'body' in event && !isFilled(memberOf(event, 'partner_order_id')) ? event.body : event;
}

/** The order that an event names, if it names one; `problem` says why that cannot be read. */
export function orderNamedBy(event: ObservedEvent): { id?: string; ref?: string; problem?: string } {
  const named = namedBody(event);
  const id = memberOf(named, 'partner_order_id');
  const ref = memberOf(named, 'platform_order_ref');
  if (id === undefined || id === null) return {};
  if (!isFilled(id)) return { problem: problemOf(id) };
  return { id, ...(isFilled(ref) && { ref: storableText(ref.slice(0, longestRef)) }) };
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
  const { id = '' } = orderNamedBy(event);
  const name = Object(namedBody(event)).event_name;
  const of = isFilled(name) ? ` ${quotedName(name)}` : '';
  const reason = printableText(why).slice(0, 200);
  return new OrderError(
    'order_mismatch',
    `The authentic event${of} of order ${quotedName(id)} was refused by a handler: ${reason}.`,
    {
      partner_order_id: id,
      remedy: 'Find out whose order it is; if the event is right, replay it.',
    },
  );
}

function problemOf(given: unknown): string {
  if (given === '') return 'its partner_order_id is empty';
  const kind = Array.isArray(given)
    ? 'a list'
    : typeof given === 'object'
      ? 'an object'
      : `a ${typeof given}`;
  return `its partner_order_id is ${kind}, not a text`;
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
