import { fromWireNames, receivedNameOf, type WireNames } from '../deployment/wire-names.ts';
import { decimalLiteral } from '../events/decimal-literal.ts';
import { type ParsedOrderEvent, parseOrderEvent } from '../events/parse-order-event.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { VerifiedBody } from '../signature/verify-body.ts';

/** An authentic body under the published names, with what it says. */
export interface ReceivedEvent {
  readonly parsed: ParsedOrderEvent;
  /** The whole body. */
  readonly body: JsonObject;
  /** The text that was signed. */
  readonly text: string;
  /** A number exactly as it was written, by its published name. */
  decimal(path: string | readonly (string | number)[]): string | undefined;
}

export function readEvent(
  { value, text, json }: Pick<VerifiedBody, 'value' | 'text' | 'json'>,
  wireNames: WireNames,
): ReceivedEvent {
  const body = fromWireNames(value, wireNames);
  return {
    parsed: parseOrderEvent(body),
    body,
    text,
    decimal(path) {
      const [first, ...inner] = typeof path === 'string' ? [path] : path;
      if (typeof first !== 'string') return undefined;
      return decimalLiteral(json, [receivedNameOf(first, value, wireNames), ...inner]);
    },
  };
}
