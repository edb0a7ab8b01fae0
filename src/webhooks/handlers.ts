import { ConfigurationError } from '../errors/errors.ts';
import { orderEventNames } from '../events/event-names.ts';
import type { EventReading } from '../events/event-readings.ts';
import type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
import { type UnrecognizedEvent, unrecognizedEvent } from '../events/parse-order-event.ts';
import type { DeliveryReference, HandleOptions, HandleResult } from '../inbox/inbox.ts';
import type { JsonObject } from '../internal/json.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordStore } from '../store/record-store.ts';
import { userTransactionOf } from '../store/user-transaction.ts';
import type { ReceivedEvent } from './received-event.ts';

/** Passed to a handler with the event. */
export interface EventContext<Member extends string = string> extends DeliveryReference {
  /**
   * The whole parsed body as it was sent, under the published names, `signature` included, with members that the event's
   * type does not have.
   */
  readonly body: JsonObject;
  /**
   * The members of the event that were sent in another form than the documented one, and are read without a guess;
   * usually none (ledger: `event-readings`).
   */
  readonly readings: readonly EventReading[];
  /**
   * The digits of the number at a path as the sender wrote it, as a number or as text: plain digits (`0.0000001` for
   * `1E-07`) of at most 100 characters; `undefined` without one. For money, since parsing may have rounded
   * `event.fiat_amount_to_pay`. Read from the body as received, under every signature scheme.
   *
   * Under schemes that sign the parsed value (serializations `compact`, `sorted`, `base64-compact`,
   * `base64-sorted`) only the double that it rounds to is authentic: the holder of a signed event can write other digits
   * that round to the same one (`15000.10` as `15000.1000000000000001`). Round it to the decimals of its currency.
   * @param path the published name of a member of the event, or names and array indexes from the outermost inwards. In
   *   a list every name is allowed: `['acme_fee']` for a member that the event's type does not have
   */
  decimal(path: Member | readonly (string | number)[]): string | undefined;
  /** Aborted when the inbox stops the handler (its time limit, or a stop). Pass it on to every call that can be aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Marks the delivery handled in your own open transaction: your effect and the mark are committed together or not at
   * all, so the effect happens exactly once. Call it after the effect, and commit right after it. Then the worker only
   * checks that the mark is there; if it is not, the attempt failed (`not_committed`). Whatever it throws, your
   * transaction cannot be committed any more, and the attempt has failed, even if you catch it.
   *
   * For `storeInbox` over `postgresStore` (a client of pg 8.21 or later in a READ COMMITTED transaction), over
   * `sqliteStore`, and for `sqliteInbox`. The guard of two texts about one credit is still the order and its step.
   *
   * @param store over the inbox's own table and your connection: `postgresStore({ client })` with the same table and
   *   schema, or `sqliteStore({ database })` on the same file
   * @throws {InboxError} `lease_lost` if another worker has the delivery by now
   * @throws {ConfigurationError} `invalid_option` for another inbox, a store that does not hold this delivery, and one
   *   without an open transaction
   * @throws {StoreError}
   * @example
   * ```ts
   * webhooks.on('event.buy.credited.crypto', async (event, { handledIn }) => {
   *   database.exec('BEGIN IMMEDIATE');
   *   try {
   *     database.prepare('UPDATE orders SET credited = 1 WHERE id = ?').run(event.partner_order_id);
   *     await handledIn(sqliteStore({ database }));
   *     database.exec('COMMIT');
   *   } catch (error) {
   *     database.exec('ROLLBACK');
   *     throw error;
   *   }
   * });
   * ```
   */
  handledIn(store: RecordStore): Promise<void>;
}

/** The members of an event, of each in a union; any text where the event cannot be read. */
export type MemberOf<Event> = Event extends { event_name: unknown } ? keyof Event & string : string;

/**
 * Handles one event. Without a durable inbox the delivery is acknowledged after the handler, and what it throws is
 * answered with 500. With one it runs after that, and the inbox tries again if it throws. It may throw anything; what it
 * returns is waited for and ignored.
 */
export type EventHandler<Event> = (event: Event, context: EventContext<MemberOf<Event>>) => unknown;

export class Handlers {
  readonly #byName = new Map<OrderEventName, EventHandler<OrderEvent>>();
  #any: EventHandler<OrderEvent> | undefined;
  /** `'ignore'` mutes other names. */
  #unrecognized: EventHandler<UnrecognizedEvent> | 'ignore' | undefined;

  on<Name extends OrderEventName>(name: Name, handler: EventHandler<OrderEventOf<Name>>): void {
    if (!orderEventNames.includes(name)) {
      throw new ConfigurationError('invalid_option', `"${String(name)}" is not a published event.`, {
        remedy: 'Register onUnrecognized: it receives all others.',
        assumptions: ['other-events'],
      });
    }
    checkFree(`on('${name}')`, this.#byName.get(name), handler);
    // Sound: handlers are looked up by the event's own name.
    this.#byName.set(name, handler as EventHandler<OrderEvent>);
  }

  onAny(handler: EventHandler<OrderEvent>): void {
    checkFree('onAny', this.#any, handler);
    this.#any = handler;
  }

  onUnrecognized(handler: EventHandler<UnrecognizedEvent> | 'ignore'): void {
    checkFree('onUnrecognized', this.#unrecognized, handler === 'ignore' ? () => {} : handler);
    this.#unrecognized = handler;
  }

  get hasAny(): boolean {
    return this.#byName.size > 0 || this.#any !== undefined || typeof this.#unrecognized === 'function';
  }

  /** @throws {InboxError} `event_unrecognized` if it cannot be read here; and the error of a handler */
  async handle(
    { parsed, ...event }: ReceivedEvent,
    { name, digest, key }: DeliveryReference,
    { signal, mark }: HandleOptions = {},
  ): Promise<HandleResult> {
    let unmarked: { readonly error: unknown } | undefined;
    const context: EventContext = {
      ...{ name, digest, key, signal, ...event },
      async handledIn(store) {
        const transaction = userTransactionOf(store);
        try {
          if (mark === undefined)
            throw invalidOption(
              'This inbox cannot mark a delivery in your transaction.',
              'Take storeInbox over postgresStore or sqliteStore, or sqliteInbox; or guard the effect by its effectKey.',
            );
          if (transaction === undefined)
            throw invalidOption(
              'handledIn needs a store over a connection with an open transaction of yours.',
              'Give postgresStore({ client }) or sqliteStore({ database }).',
            );
          await mark(store);
        } catch (error) {
          // A handler may catch the error and commit: nothing of its transaction can be committed, and it has no effect.
          unmarked = { error };
          await transaction?.fail();
          throw error;
        }
      },
    };
    const result =
      parsed.kind === 'known'
        ? await this.#handleKnown(parsed.event, context)
        : await this.#handleUnrecognized(parsed, context);
    if (unmarked !== undefined) throw unmarked.error;
    return result;
  }

  async #handleKnown(event: OrderEvent, context: EventContext): Promise<HandleResult> {
    const any = this.#any;
    const named = this.#byName.get(event.event_name);
    if (any === undefined && named === undefined) return 'put-back';
    await any?.(event, context);
    // The first handler was aborted: the delivery now belongs to another attempt.
    context.signal?.throwIfAborted();
    await named?.(event, context);
    return 'handled';
  }

  async #handleUnrecognized(event: UnrecognizedEvent, context: EventContext): Promise<HandleResult> {
    const handler = this.#unrecognized;
    if (typeof handler === 'function') {
      await handler(event, context);
      return 'handled';
    }
    if (handler === 'ignore' && event.kind === 'unknown') return 'ignored';
    throw unrecognizedEvent(event);
  }
}

function checkFree(registration: string, present: unknown, handler: unknown): void {
  if (typeof handler !== 'function') throw invalidOption(`${registration} needs a function.`);
  if (present !== undefined) {
    throw new ConfigurationError('duplicate_handler', `${registration} is registered twice.`);
  }
}
