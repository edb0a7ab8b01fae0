import type { UnrecognizedEvent } from '../events/unrecognized-event.ts';
import { storableText } from '../internal/driver-error.ts';
import { isJsonObject } from '../internal/json.ts';
import type { ObservedEvent } from './journal.ts';

const longestRef = 200;

/** What `onUnrecognized` passes. A published event names its order itself. */
export function isUnrecognizedEvent(event: ObservedEvent): event is UnrecognizedEvent {
  const kind = memberOf(event, 'kind');
  return (kind === 'unknown' || kind === 'nonconforming') && !isName(memberOf(event, 'partner_order_id'));
}

/** The members of an event: its own, or those of its `body`. */
export function namedBody(event: ObservedEvent): unknown {
  return 'body' in event && !isName(memberOf(event, 'partner_order_id')) ? event.body : event;
}

/** The order that an event names, if it names one; `problem` says why that cannot be read. */
export function orderNamedBy(event: ObservedEvent): { id?: string; ref?: string; problem?: string } {
  const named = namedBody(event);
  const id = memberOf(named, 'partner_order_id');
  const ref = memberOf(named, 'platform_order_ref');
  if (id === undefined || id === null) return {};
  if (!isName(id)) return { problem: problemOf(id) };
  return { id, ...(isName(ref) && { ref: storableText(ref.slice(0, longestRef)) }) };
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

export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
