import * as z from 'zod';
import { makeEventSchemas } from './event-schemas.ts';
import type {
  BuyCloseEvent,
  BuyCreditedEvent,
  BuyFiatReceivedEvent,
  BuyInitEvent,
  BuyKycErrorEvent,
  BuyThirdPartyErrorEvent,
} from './event-types.ts';

/** By the names of the functions that make them. */
export const eventSchemas = makeEventSchemas({
  ...z,
  object: z.looseObject,
  filledString: () => z.string().min(1),
});

/** The schema of {@link BuyInitEvent}. Like all of these, it keeps unknown members. */
export const buyInitEvent = eventSchemas.buyInitEvent;

/** The schema of {@link BuyFiatReceivedEvent}. */
export const buyFiatReceivedEvent = eventSchemas.buyFiatReceivedEvent;

/** The schema of `BuyNoKycEvent`. */
export const buyNoKycEvent = eventSchemas.buyNoKycEvent;

/** The schema of `BuyThirdPartyPaymentEvent`. */
export const buyThirdPartyPaymentEvent = eventSchemas.buyThirdPartyPaymentEvent;

/** The schema of {@link BuyKycErrorEvent}. */
export const buyKycErrorEvent = eventSchemas.buyKycErrorEvent;

/** The schema of {@link BuyThirdPartyErrorEvent}: every common member is optional, since the body is not shown. */
export const buyThirdPartyErrorEvent = eventSchemas.buyThirdPartyErrorEvent;

/** The schema of {@link BuyCreditedEvent}. */
export const buyCreditedEvent = eventSchemas.buyCreditedEvent;

/** The schema of {@link BuyCloseEvent}. */
export const buyCloseEvent = eventSchemas.buyCloseEvent;

/**
 * The schema of {@link OrderEvent}: every published order event, told apart by `event_name` (contract: Events).
 *
 * For bodies from the network prefer `parseOrderEvent`: it also says what is unfamiliar about an authentic body.
 */
export const orderEvent = z.discriminatedUnion('event_name', [
  buyInitEvent,
  buyFiatReceivedEvent,
  buyKycErrorEvent,
  buyThirdPartyErrorEvent,
  buyCreditedEvent,
  buyCloseEvent,
]);

/**
 * Any published order event, told apart by `event_name`. Further members are kept in the value but are not in the type:
 * read them from the body (`body` of `parseOrderEvent`, and of a webhook handler's context).
 */
export type OrderEvent =
  | BuyInitEvent
  | BuyFiatReceivedEvent
  | BuyKycErrorEvent
  | BuyThirdPartyErrorEvent
  | BuyCreditedEvent
  | BuyCloseEvent;
/** The name of a published order event. */
export type OrderEventName = OrderEvent['event_name'];
/** The event with this name. */
export type OrderEventOf<Name extends OrderEventName> = Extract<OrderEvent, { event_name: Name }>;
