import { isJsonObject, type JsonObject, type JsonValue } from '../../../internal/json.ts';

/** An event before it is written: its body, and members that stand in its text a second time. */
export interface EventDraft {
  readonly body: JsonObject;
  readonly repeated: readonly RepeatedMember[];
}

/** A member that follows the one of its name, with another value. */
interface RepeatedMember {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** The change of one member: its new name and value, nothing, or a second one after it. */
type Changed =
  | { readonly name?: string; readonly value: JsonValue }
  | { readonly second: JsonValue }
  | 'missing';

/** Ways to change one member of an event: `docs/details/sandbox.md` shows each. */
export const memberChanges = {
  missing: () => 'missing',
  null: () => ({ value: null }),
  text: (value) => ({ value: typeof value === 'string' ? value : JSON.stringify(value) }),
  number: (value) => ({ value: typeof value === 'string' && decimal.test(value) ? Number(value) : 7 }),
  boolean: () => ({ value: true }),
  list: (value) => ({ value: [value] }),
  nested: (value) => ({ value: { value } }),
  renamed: (value, name) => ({ name: otherSpelling(name), value }),
  respelled: (value) => ({ value: typeof value === 'string' ? otherCase(value) : value }),
  long: (value) => ({ value: longValue(value) }),
  repeated: (value) => ({ second: otherValue(value) }),
} as const satisfies Record<string, (value: JsonValue, name: string) => Changed>;

/** The name of a change: see {@link memberChanges}. @inline */
export type MemberChangeName = keyof typeof memberChanges;

// Sound: the keys of the table.
export const memberChangeNames = Object.keys(memberChanges) as MemberChangeName[];

const decimal = /^-?\d{1,15}(?:\.\d{1,6})?$/;

/** Changes the member at a path such as `payer_into_account.bank_name`. An event without it stays as it is. */
export function changeMember(draft: EventDraft, member: string, change: MemberChangeName): EventDraft {
  const path = member.split('.');
  const value = path.reduce<JsonValue | undefined>(memberOf, draft.body);
  const name = path.at(-1) ?? '';
  if (value === undefined) return draft;
  const play: (value: JsonValue, name: string) => Changed = memberChanges[change];
  const changed = play(value, name);
  if (changed === 'missing') return { ...draft, body: replace(draft.body, path, []) };
  if ('second' in changed) {
    return { ...draft, repeated: [...draft.repeated, { path, value: changed.second }] };
  }
  return { ...draft, body: replace(draft.body, path, [[changed.name ?? name, changed.value]]) };
}

/** Sets the member at a path, and adds it where an event has none. */
export function setMember(draft: EventDraft, member: string, value: JsonValue): EventDraft {
  const path = member.split('.');
  return { ...draft, body: replace(draft.body, path, [[path.at(-1) ?? '', value]]) };
}

/** The paths of all members, the outer ones first. */
export function memberPaths(body: JsonObject, prefix = ''): string[] {
  return Object.entries(body).flatMap(([name, value]) => [
    prefix + name,
    ...(isJsonObject(value) ? memberPaths(value, `${prefix}${name}.`) : []),
  ]);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A copy with these members in the place of one, or at the end where it is missing. */
function replace(
  body: JsonObject,
  [name = '', ...inner]: readonly string[],
  members: readonly (readonly [string, JsonValue])[],
): JsonObject {
  const outer = body[name];
  const own: typeof members =
    inner.length === 0 ? members : [[name, replace(isJsonObject(outer) ? outer : {}, inner, members)]];
  if (!Object.hasOwn(body, name)) return Object.fromEntries([...Object.entries(body), ...own]);
  return Object.fromEntries(Object.entries(body).flatMap((entry) => (entry[0] === name ? own : [entry])));
}

/** `bank_name` as `bankName`; a name without parts in capitals. */
function otherSpelling(name: string): string {
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return camel === name ? name.toUpperCase() : camel;
}

/** Capitals as small letters, and the other way round. */
function otherCase(text: string): string {
  const lower = text.toLowerCase();
  return lower === text ? text.toUpperCase() : lower;
}

/** Longer than any member should be, and within the limit of a body. */
const longLength = 20_000;

function longValue(value: JsonValue): JsonValue {
  if (typeof value === 'number') return Number.MAX_VALUE;
  if (isJsonObject(value)) return { ...value, note: 'x'.repeat(longLength) };
  return String(value ?? 'x')
    .padEnd(1, 'x')
    .repeat(longLength)
    .slice(0, longLength);
}

function otherValue(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}-2`;
  return value === null ? 'two' : null;
}
