import { isJsonObject } from '../internal/json.ts';
import { invalidOption } from '../internal/options.ts';

/** A status of an event. @inline */
export type EventStatusName = 'fiat_payment_status' | 'crypto_payment_status';

/**
 * The statuses that money hangs on, by event, and the published words that say otherwise in each: no deployment can name
 * these.
 */
export const closedStatuses = {
  'event.buy.init': { fiat_payment_status: [], crypto_payment_status: [] },
  'event.buy.received.fiat': { fiat_payment_status: ['PENDING'], crypto_payment_status: [] },
  'event.buy.credited.crypto': {
    fiat_payment_status: ['PENDING'],
    crypto_payment_status: ['PENDING', 'STARTED'],
  },
} as const satisfies Readonly<
  Record<keyof EventStatuses, Readonly<Record<EventStatusName, readonly string[]>>>
>;

/** Further statuses of a deployment, by event and member, each in the sender's spelling. */
export type EventStatuses = {
  readonly [Event in 'event.buy.init' | 'event.buy.received.fiat' | 'event.buy.credited.crypto']?:
    | { readonly [Member in EventStatusName]?: readonly string[] | undefined }
    | undefined;
};

/** The words that an event with closed statuses cannot carry; `undefined` for any other member or event. */
export function contraryStatuses(event: string, member: string): readonly string[] | undefined {
  const members: Readonly<Record<string, readonly string[]>> | undefined = Object.hasOwn(
    closedStatuses,
    event,
  )
    ? // Sound: it is a key of the table.
      closedStatuses[event as keyof typeof closedStatuses]
    : undefined;
  return members !== undefined && Object.hasOwn(members, member) ? members[member] : undefined;
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkEventStatuses(given: unknown = {}): EventStatuses {
  if (!isJsonObject(given)) throw invalidOption('eventStatuses must be an object.');
  for (const [event, members] of Object.entries(given)) {
    if (!isJsonObject(members)) throw invalidOption('eventStatuses must have objects of statuses by event.');
    for (const [member, statuses] of Object.entries(members)) {
      const contrary = contraryStatuses(event, member);
      if (contrary === undefined)
        throw invalidOption(
          `eventStatuses has no ${event.slice(0, 64)}.${member.slice(0, 64)}.`,
          `It has fiat_payment_status and crypto_payment_status of ${Object.keys(closedStatuses).join(', ')}.`,
        );
      checkStatuses(`eventStatuses.${event}.${member}`, statuses, contrary);
    }
  }
  // Sound: all members were checked.
  return Object.freeze(given as EventStatuses);
}

function checkStatuses(name: string, statuses: unknown, contrary: readonly string[]): void {
  const isList =
    Array.isArray(statuses) && statuses.every((status) => typeof status === 'string' && status !== '');
  if (!isList) throw invalidOption(`${name} must be a list of texts.`);
  const wrong = statuses.find((status) => contrary.includes(status.trim().toUpperCase()));
  if (wrong !== undefined)
    throw invalidOption(`${name} may not have ${wrong}, which the contract gives another meaning.`);
}
