import type { EventStatuses } from '../deployment/event-statuses.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';
import { decimalLiteral } from '../internal/json-scanner.ts';
import { eventReaders, type Reader, type ReaderTree } from './event-readers.ts';
import type { OrderEventName } from './order-event.ts';

/** A member of an authentic event in another form than the documented one (ledger: `event-readings`). */
export interface EventReading {
  /** The published name of the member, from the outermost object inwards. */
  readonly path: readonly string[];
  /** `nothing`, `null`, `text` or `number`; the spelling sent of a status and of `event_name`. Never another value. */
  readonly found: string;
  /** `empty text`, `empty texts`, `null`, `number` or `text`; of a status and of `event_name` the documented spelling. */
  readonly readAs: string;
}

/** The readings of an event in the documented form. */
export const noReadings: readonly EventReading[] = Object.freeze([]);

/** A copy of an event in which members were read, and how each of them was read. */
export interface ReadObject {
  readonly value: JsonObject;
  readonly readings: readonly EventReading[];
}

/**
 * Reads whatever can be read of an event without a guess. The result need not be in the documented form.
 *
 * @param context `text`: the JSON text of the body; without it a number is not read as text, since its digits are not
 *   known. `statuses`: further ones of this event
 */
export function readEventMembers(
  name: OrderEventName,
  body: JsonObject,
  { text, statuses }: ReadContext,
): ReadObject {
  const further: Readonly<Record<string, readonly string[] | undefined>> = { ...statuses };
  return readObject(body, eventReaders[name], [], { text, further });
}

interface ReadContext {
  readonly text: string | undefined;
  readonly statuses: EventStatuses[keyof EventStatuses];
}

interface MemberContext {
  readonly text: string | undefined;
  /** Further statuses, by the path of the member. */
  readonly further: Readonly<Record<string, readonly string[] | undefined>>;
}

function readObject(
  sent: JsonObject,
  readers: ReaderTree,
  outer: readonly string[],
  context: MemberContext,
): ReadObject {
  const value = { ...sent };
  const readings: EventReading[] = [];
  for (const [name, reader] of Object.entries(readers)) {
    const path = [...outer, name];
    const member = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const read =
      typeof reader === 'function'
        ? readValue(member, reader, path, context)
        : readNested(member, reader, path, context);
    if (read === undefined) continue;
    value[name] = read.value;
    readings.push(...read.readings);
  }
  return { value, readings };
}

function readValue(
  member: JsonValue | undefined,
  reader: Reader<JsonValue>,
  path: string[],
  { text, further }: MemberContext,
) {
  const read = reader(member, () => digitsOf(member, path, text), further[path.join('.')] ?? []);
  if (read === undefined) return undefined;
  const { value, found, readAs } = read;
  return { value, readings: [{ path, found, readAs }] };
}

function readNested(
  member: JsonValue | undefined,
  readers: ReaderTree,
  path: string[],
  context: MemberContext,
) {
  if (isJsonObject(member)) return readObject(member, readers, path, context);
  if (member !== undefined && member !== null) return undefined;
  // Only where each of its members can be read from nothing.
  const { value, readings } = readObject({}, readers, path, context);
  if (readings.length < Object.keys(readers).length) return undefined;
  return { value, readings: [{ path, found: member === null ? 'null' : 'nothing', readAs: 'empty texts' }] };
}

/** The digits of a number as they were sent; `undefined` where the text does not tell them. */
function digitsOf(member: JsonValue | undefined, path: string[], text: string | undefined) {
  const digits = text === undefined ? undefined : decimalLiteral(text, path);
  // The text may be another's.
  return digits !== undefined && Number.isFinite(member) && Number(digits) === member ? digits : undefined;
}
