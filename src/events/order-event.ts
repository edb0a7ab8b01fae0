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

const schemas = makeEventSchemas({ ...z, object: z.looseObject }, 'open');

/** The schema of {@link BuyInitEvent}. Like all of these, it keeps unknown members. */
export const buyInitEvent = schemas.buyInitEvent;

/** The schema of {@link BuyFiatReceivedEvent}. */
export const buyFiatReceivedEvent = schemas.buyFiatReceivedEvent;

/** The schema of {@link BuyKycErrorEvent}. */
export const buyKycErrorEvent = schemas.buyKycErrorEvent;

/** The schema of {@link BuyThirdPartyErrorEvent}: every common member is optional, since the body is not shown. */
export const buyThirdPartyErrorEvent = schemas.buyThirdPartyErrorEvent;

/** The schema of {@link BuyCreditedEvent}. */
export const buyCreditedEvent = schemas.buyCreditedEvent;

/** The schema of {@link BuyCloseEvent}. */
export const buyCloseEvent = schemas.buyCloseEvent;

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
