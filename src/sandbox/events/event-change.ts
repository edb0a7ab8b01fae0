import { orderEventNames } from '../../events/event-names.ts';
import type { OrderEventName } from '../../events/order-event.ts';
import type { JsonValue } from '../../internal/json.ts';
import { checkOneOf, invalidOption, value } from '../../internal/options.ts';
import { type MemberChangeName, memberChangeNames } from './member-changes.ts';

/** How each event, or each of one name, differs from the documented one: a habit of the service. */
export interface EventChange {
  /** The event. @default every one */
  readonly event?: OrderEventName | undefined;
  /** The path of a member, under its published name: `payer_into_account.bank_name`. */
  readonly member: string;
  /** What becomes of it. `set` gives it `value`, and adds it where it is absent. */
  readonly change: MemberChangeName | 'set';
  /** For `set`: any JSON value. @default null */
  readonly value?: JsonValue | undefined;
}

/** @throws {ConfigurationError} `invalid_option` naming the row that does not fit */
export const eventChangesRow = value(
  (given, name): readonly EventChange[] => {
    if (!Array.isArray(given)) throw invalidOption(`${name} must be a list of changes.`);
    return Object.freeze(given.map((each, index) => checkEventChange(each, `${name}[${index}]`)));
  },
  { default: [] },
);

function checkEventChange(given: unknown, name: string): EventChange {
  if (typeof given !== 'object' || given === null) throw invalidOption(`${name} must be an object.`);
  const { event, member, change, value, ...others }: { readonly [name: string]: unknown } = { ...given };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidOption(`${name} has no member "${unknown.slice(0, 64)}".`);
  return Object.freeze({
    event: event === undefined ? undefined : checkOneOf(`${name}.event`, event, orderEventNames),
    member: checkMemberPath(member, `${name}.member`),
    change: checkOneOf(`${name}.change`, change, [...memberChangeNames, 'set']),
    // Sound: JSON.parse returns JSON alone.
    value: JSON.parse(JSON.stringify(value ?? null)) as JsonValue,
  });
}

/** @throws {ConfigurationError} `invalid_option` unless it is names with dots between them */
export function checkMemberPath(given: unknown, name: string): string {
  if (
    typeof given === 'string' &&
    /^[\w-]{1,64}(?:\.[\w-]{1,64}){0,9}$/.test(given) &&
    !given.includes('__proto__')
  ) {
    return given;
  }
  throw invalidOption(`${name} must be the path of a member, such as payer_into_account.bank_name.`);
}
