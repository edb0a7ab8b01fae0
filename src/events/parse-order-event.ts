import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { type EventIssue, eventChecks } from './event-checks.ts';
import type { OrderEvent } from './order-event.ts';

/** The result of parsing a body. All of its members are kept in every case. */
export type ParsedOrderEvent =
  | {
      readonly kind: 'known';
      readonly event: OrderEvent;
      /** The same value, with members that the event's type does not have. */
      readonly body: JsonObject;
    }
  | { readonly kind: 'unknown'; readonly name: string; readonly body: JsonObject }
  | {
      readonly kind: 'nonconforming';
      /** The event name, or an empty string when there is none. */
      readonly name: string;
      /** The value itself, or an empty object when it is not an object. */
      readonly body: JsonObject;
      readonly issues: readonly EventIssue[];
    };

/**
 * Narrows a verified body. Never throws: a body with an unfamiliar name is `unknown`; one without a name, or not in the
 * published shape of its event, is `nonconforming`, with the differences.
 *
 * Returns the value itself, not a copy, so nothing is lost.
 */
export function parseOrderEvent(value: unknown): ParsedOrderEvent {
  if (!isJsonObject(value)) {
    return {
      kind: 'nonconforming',
      name: '',
      body: {},
      issues: [{ path: [], message: 'must be an object' }],
    };
  }
  const name = Object.hasOwn(value, 'event_name') ? value.event_name : undefined;
  if (typeof name !== 'string') {
    const issues = [{ path: ['event_name'], message: 'must be a string' }];
    return { kind: 'nonconforming', name: '', body: value, issues };
  }
  const check = eventChecks.get(name);
  if (check === undefined) return { kind: 'unknown', name, body: value };
  const issues = check(value);
  if (issues.length > 0) return { kind: 'nonconforming', name, body: value, issues };
  // Sound: the check asks for what the type of the event says, as the schemas do.
  return { kind: 'known', event: value as unknown as OrderEvent, body: value };
}
