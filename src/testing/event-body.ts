import type { OrderEventName, OrderEventOf } from '../events/order-event.ts';
import { isThirdPartyKycError } from '../events/status.ts';
import { checkNames } from '../options/check-names.ts';
import { checkOneOf } from '../options/check-values.ts';
import { sampleEvents, sampleThirdPartyPayment } from './sample-events.ts';

/**
 * What may differ from the default event with this name: any member at any depth, but its name and its signature. For
 * the KYC error, `kyc_error_type` decides which other values fit.
 */
export type EventOverrides<Name extends OrderEventName = OrderEventName> = OverridesOf<OrderEventOf<Name>>;

/** Distributed over a union of events: the values of each belong together. */
type OverridesOf<Event> = Event extends unknown
  ? {
      readonly [Member in Exclude<keyof Event, 'event_name' | 'signature'>]?:
        | PartOf<Event[Member]>
        | undefined;
    }
  : never;

type PartOf<Value> = Value extends object
  ? { readonly [Member in keyof Value]?: PartOf<Value[Member]> | undefined }
  : Value;

/**
 * The body of a published event, complete and valid, unsigned, under the published names: for a unit test of a handler,
 * or for `signedDelivery`. It is the same on every call and in every process, and yours to change.
 *
 * The values are as awkward as real ones: names beyond ASCII, slashes, an amount with cents that its sender writes as
 * `15000.50`. For a body that is *not* valid, spread it: `{ ...eventBody('event.buy.init'), pair: 7 }`.
 *
 * @param overrides what shall differ, merged at every depth; a member that is `undefined` keeps its default
 * @throws {ConfigurationError} `invalid_option` for a name that is no event's, or a member that the event does not have
 * @example
 * ```ts
 * eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1', transactional_kyc: { phone: '' } });
 * ```
 */
export function eventBody<Name extends OrderEventName>(
  name: Name,
  overrides?: EventOverrides<Name>,
): OrderEventOf<Name>;
export function eventBody(name: OrderEventName, overrides: Overrides = {}): object {
  // Sound: the keys of an object of ours.
  checkOneOf('The name of the event', name, Object.keys(sampleEvents) as OrderEventName[]);
  // `null` is refused with what else is no object, below.
  const isThirdParty =
    name === 'event.buy.received.fiat_kyc_error' && isThirdPartyKycError(overrides?.kyc_error_type);
  return merge(
    isThirdParty ? sampleThirdPartyPayment : sampleEvents[name],
    overrides,
    `eventBody('${name}')`,
  );
}

/** Overrides of any event, whose members are looked up by name. */
type Overrides = { readonly [member: string]: unknown };

function merge(defaults: object, overrides: Overrides, owner: string): object {
  const names = Object.keys(defaults).filter((member) => member !== 'event_name');
  checkNames(owner, overrides, Object.fromEntries(names.map((member) => [member, true])));
  const merged = Object.entries(defaults).map(([member, value]: [string, unknown]) => {
    const own = overrides[member];
    if (!isObject(value)) return [member, own === undefined ? value : own];
    return [member, own === undefined || isObject(own) ? merge(value, own ?? {}, `${owner}.${member}`) : own];
  });
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is Overrides {
  return typeof value === 'object' && value !== null;
}
