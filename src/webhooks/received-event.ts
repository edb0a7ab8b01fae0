import type { EventStatuses } from '../deployment/event-statuses.ts';
import { fromWireNames, receivedNameOf, type WireNames } from '../deployment/wire-names.ts';
import { type EventReading, noReadings } from '../events/event-readings.ts';
import { type ParsedOrderEvent, parseOrderEvent } from '../events/parse-order-event.ts';
import type { JsonObject } from '../internal/json.ts';
import { decimalDigits } from '../internal/json-scanner.ts';
import type { VerifiedBody } from '../signature/verify-body.ts';

/** An authentic body under the published names. */
export interface ReceivedEvent {
  readonly parsed: ParsedOrderEvent;
  readonly body: JsonObject;
  readonly readings: readonly EventReading[];
  /** The digits of a number, by its published name: {@link decimalDigits}. */
  decimal(path: string | readonly (string | number)[]): string | undefined;
}

export function readEvent(
  { value, json }: Pick<VerifiedBody, 'value' | 'json'>,
  { wireNames, eventStatuses }: { readonly wireNames: WireNames; readonly eventStatuses: EventStatuses },
): ReceivedEvent {
  const body = fromWireNames(value, wireNames);
  const parsed = parseOrderEvent(body, { text: json, eventStatuses });
  return {
    parsed,
    body,
    readings: parsed.kind === 'known' ? parsed.readings : noReadings,
    decimal(path) {
      const [first, ...inner] = typeof path === 'string' ? [path] : path;
      if (typeof first !== 'string') return undefined;
      return decimalDigits(json, [receivedNameOf(first, value, wireNames), ...inner]);
    },
  };
}
