import { ConfigurationError } from '../errors/configuration-error.ts';
import { warn } from '../errors/warn.ts';
import { decimalLiteral } from '../events/decimal-literal.ts';
import type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
import { orderEventNames, type ParsedOrderEvent } from '../events/parse-order-event.ts';
import type { DeliveryReference, HandleDelivery } from '../inbox/inbox.ts';
import type { JsonObject } from '../json/json-value.ts';

/** What a handler learns beside the event. */
export interface EventContext extends DeliveryReference {
  /** The whole parsed body under the published names: also the members that the event's type does not have. */
  readonly body: JsonObject;
  /** The verified text, without its signature. */
  readonly text: string;
  /**
   * The number at a path exactly as the service wrote it, as a decimal string; `undefined` where there is none.
   * For money: `event.fiat_amount_to_pay` may have been rounded by parsing.
   */
  decimal(path: string | readonly (string | number)[]): string | undefined;
  /** Aborted when the inbox cuts the handler off (its time limit, or a stop): pass it on to what can be aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Without a durable inbox it runs to its end before the delivery is acknowledged, and what it throws is answered with
 * 500. With one it runs after that, and what it throws makes the inbox try again. It may throw anything.
 */
export type EventHandler<Event> = (event: Event, context: EventContext) => void | Promise<void>;

/** An authentic body that is no published event, or not in the shape of the event it names. */
export type UnrecognizedEvent = Exclude<ParsedOrderEvent, { kind: 'known' }>;

/** What is registered, and how an event gets there. */
export class Handlers {
  readonly #byName = new Map<OrderEventName, EventHandler<OrderEvent>>();
  #any: EventHandler<OrderEvent> | undefined;
  #unrecognized: EventHandler<UnrecognizedEvent> | undefined;
  readonly #warned = new Set<string>();

  on<Name extends OrderEventName>(name: Name, handler: EventHandler<OrderEventOf<Name>>): void {
    if (!orderEventNames.includes(name)) {
      throw new ConfigurationError(
        'invalid_option',
        `"${String(name)}" is not a published event: onUnrecognized receives all others.`,
        { assumptions: ['other-events'] },
      );
    }
    checkFree(`on('${name}')`, this.#byName.get(name), handler);
    // Sound: dispatch looks handlers up by the event's own name.
    this.#byName.set(name, handler as EventHandler<OrderEvent>);
  }

  onAny(handler: EventHandler<OrderEvent>): void {
    checkFree('onAny', this.#any, handler);
    this.#any = handler;
  }

  onUnrecognized(handler: EventHandler<UnrecognizedEvent>): void {
    checkFree('onUnrecognized', this.#unrecognized, handler);
    this.#unrecognized = handler;
  }

  /** False as long as nothing at all is registered. */
  get any(): boolean {
    return this.#byName.size > 0 || this.#any !== undefined || this.#unrecognized !== undefined;
  }

  /** The work to do for a parsed body, or `undefined` when nothing is registered for it. */
  find(parsed: ParsedOrderEvent, delivery: DeliveryReference, text: string): HandleDelivery | undefined {
    if (parsed.kind !== 'known') {
      const handler = this.#unrecognized;
      if (handler === undefined) {
        this.#warnOnce(parsed);
        return undefined;
      }
      return async (options) => handler(parsed, contextOf(delivery, text, parsed.body, options?.signal));
    }
    const { event } = parsed;
    const named = this.#byName.get(event.event_name);
    const any = this.#any;
    if (named === undefined && any === undefined) return undefined;
    return async (options) => {
      const context = contextOf(delivery, text, parsed.body, options?.signal);
      if (named !== undefined) await named(event, context);
      // Cut off during the one before: this delivery is another attempt's now.
      options?.signal?.throwIfAborted();
      if (any !== undefined) await any(event, context);
    };
  }

  #warnOnce(parsed: UnrecognizedEvent): void {
    // The sender is authentic, but its names may still be many.
    if (this.#warned.has(parsed.name) || this.#warned.size >= 100) return;
    this.#warned.add(parsed.name);
    const name = JSON.stringify(parsed.name.slice(0, 100));
    warn(
      `An authentic ${parsed.kind} event ${name} was acknowledged unread: register onUnrecognized to receive it.`,
    );
  }
}

function contextOf(
  { name, digest, key }: DeliveryReference,
  text: string,
  body: JsonObject,
  signal: AbortSignal | undefined,
): EventContext {
  return { name, digest, key, body, text, decimal: (path) => decimalLiteral(text, path), signal };
}

function checkFree(registration: string, present: unknown, handler: unknown): void {
  if (typeof handler !== 'function')
    throw new ConfigurationError('invalid_option', `${registration} needs a function.`);
  if (present !== undefined) {
    throw new ConfigurationError(
      'duplicate_handler',
      `${registration} is registered twice: call both from one handler.`,
    );
  }
}
