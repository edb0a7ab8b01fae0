import { invalidOption, list, nested, type OptionRow, optional, text } from '../internal/options.ts';

/** A status of an event. @inline */
export type EventStatusName = 'fiat_payment_status' | 'crypto_payment_status';

/** The statuses that money hangs on, by event, and the published words that no deployment can name for each. */
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
  const members = new Map<string, object>(Object.entries(closedStatuses)).get(event) ?? {};
  return new Map<string, readonly string[]>(Object.entries(members)).get(member);
}

const statusRows = Object.fromEntries(
  Object.entries(closedStatuses).map(([event, members]) => {
    const rows = Object.entries(members).map(([member, contrary]) => [member, statusList(contrary)]);
    return [event, optional(nested(Object.fromEntries(rows)))];
  }),
);

/** @throws {ConfigurationError} `invalid_option` */
export const checkEventStatuses: OptionRow<EventStatuses> = nested(statusRows);

function statusList(contrary: readonly string[]) {
  return optional(
    list((status, name) => {
      const word = text()(status, name);
      if (!contrary.includes(word.trim().toUpperCase())) return word;
      throw invalidOption(`${name} may not be ${word}, which the contract gives another meaning.`);
    }),
  );
}
