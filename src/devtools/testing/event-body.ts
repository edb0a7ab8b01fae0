import type { OrderEventName, OrderEventOf } from '../../events/order-event.ts';
import { isThirdPartyKycError } from '../../events/status.ts';
import { checkOneOf, defineOptions, type OptionRow } from '../../internal/options.ts';
import { sampleEvents, sampleThirdPartyPayment } from './sample-events.ts';

/**
 * Changes to the sample event: any member at any depth, except its name and its signature. For the KYC error,
 * `kyc_error_type` determines the other values.
 */
export type EventOverrides<Name extends OrderEventName = OrderEventName> = OverridesOf<OrderEventOf<Name>>;

/** Changes to an event; distributed over a union of events. */
export type OverridesOf<Event> = Event extends unknown
  ? {
      readonly [Member in Exclude<keyof Event, 'event_name' | 'signature'>]?:
        | ValueOverrides<Event[Member]>
        | undefined;
    }
  : never;

/** Changes to a value, at any depth. */
export type ValueOverrides<Value> = Value extends string
  ? Value
  : Value extends object
    ? { readonly [Member in keyof Value]?: ValueOverrides<Value[Member]> | undefined }
    : Value;

/**
 * Returns the valid, unsigned body of a published event, under the published names, for a unit test of a handler or
 * for `signedDelivery`. Each call returns an equal new object.
 *
 * Its values are difficult on purpose: names beyond ASCII, slashes, an amount with cents that the service writes as
 * `15000.50`. For an invalid body, spread it: `{ ...eventBody('event.buy.init'), pair: 7 }`.
 *
 * @param overrides merged at every depth; a member that is `undefined` keeps its default
 * @throws {ConfigurationError} `invalid_option` for an unknown event name, or a member that the event does not have
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
  // `null` is refused below.
  const isThirdParty =
    name === 'event.buy.received.fiat_kyc_error' && isThirdPartyKycError(overrides?.kyc_error_type);
  return merge(
    isThirdParty ? sampleThirdPartyPayment : sampleEvents[name],
    overrides,
    `eventBody('${name}')`,
  );
}

type Overrides = { readonly [member: string]: unknown };

function merge({ event_name, ...members }: DefaultMembers, overrides: Overrides, owner: string): object {
  const rows = Object.entries(members).map(([member, standard]): [string, OptionRow<unknown>] => [
    member,
    (given) => override(standard, given, `${owner}.${member}`),
  ]);
  const read = defineOptions(owner, Object.fromEntries(rows));
  return { ...(event_name !== undefined && { event_name }), ...read(overrides) };
}

type DefaultMembers = object & { readonly event_name?: OrderEventName };

function override(standard: unknown, given: unknown, owner: string): unknown {
  if (!isObject(standard)) return given === undefined ? standard : given;
  return given === undefined || isObject(given) ? merge(standard, given ?? {}, owner) : given;
}

function isObject(given: unknown): given is Overrides {
  return typeof given === 'object' && given !== null;
}
