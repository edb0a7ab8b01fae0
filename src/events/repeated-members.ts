import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';
import { findMembers } from '../internal/json-scanner.ts';
import { eventReaders, type ReaderTree } from './event-readers.ts';

/**
 * The paths of documented members to which a JSON text gives two different values. `JSON.parse` keeps the last one, and
 * which of them the sender meant would be a guess.
 *
 * @param publishedName the published name of a top-level member in the text
 */
export function findRepeated(
  text: string,
  documented: ReaderTree,
  publishedName: (name: string) => string,
): string[][] {
  const paths = search(text, 0, documented, publishedName);
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()];
}

/**
 * Whether a text has exactly the commas that its value needs, and so repeats no member. Nearly every event passes, and
 * counting commas is much faster than reading the text. A failure proves nothing: there are lists and escapes too.
 *
 * @param text of `value`, with or without its top-level `signature`; of another text the result means nothing
 */
export function hasOneOfEach(text: string, value: JsonObject): boolean {
  const commas = countCommas(text);
  let between = separatorsOf(value) - (Object.hasOwn(value, 'signature') ? 1 : 0);
  for (const name of nestedNames) between += separatorsOf(value[name]);
  if (commas === between) return true;
  if (commas < between || text.includes('\\u002')) return false;
  return commas === between + commasInTexts(value);
}

function countCommas(text: string): number {
  let commas = 0;
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) commas++;
  return commas;
}

function separatorsOf(value: JsonValue | undefined): number {
  return isJsonObject(value) ? Math.max(0, Object.keys(value).length - 1) : 0;
}

/** Looks at its own texts and those of its documented objects. */
function commasInTexts(value: JsonObject): number {
  let commas = 0;
  for (const object of [value, ...nestedNames.map((name) => value[name])]) {
    if (!isJsonObject(object)) continue;
    for (const member of Object.values(object)) if (typeof member === 'string') commas += countCommas(member);
  }
  return commas;
}

/** The documented members that are objects, of any event. */
const nestedNames = [
  ...new Set(
    Object.values(eventReaders).flatMap((readers) =>
      Object.entries(readers).flatMap(([name, reader]) => (typeof reader === 'object' ? [name] : [])),
    ),
  ),
];

function search(
  text: string,
  from: number,
  documented: ReaderTree,
  publishedName: (name: string) => string,
): string[][] {
  const first = new Map<string, string>();
  return findMembers(text, undefined, from).flatMap(({ start, value: { start: valueStart, end } }) => {
    const opening = text.slice(start, valueStart);
    const name = publishedName(stringOf(opening.slice(0, opening.lastIndexOf('"') + 1)));
    const reader = Object.hasOwn(documented, name) ? documented[name] : undefined;
    if (reader === undefined) return [];
    const value = text.slice(valueStart, end);
    const before = first.get(name) ?? value;
    first.set(name, before);
    const inner =
      typeof reader === 'object' && value.startsWith('{')
        ? search(text, valueStart, reader, (published) => published)
        : [];
    const paths = inner.map((path) => [name, ...path]);
    return isSameValue(before, value) ? paths : [[name], ...paths];
  });
}

/** Two spellings of one text are the same value; numbers and objects have to be spelled alike. */
function isSameValue(one: string, other: string): boolean {
  if (one === other) return true;
  return one.startsWith('"') && other.startsWith('"') && stringOf(one) === stringOf(other);
}

/** The meaning of a string with its quotes; as it is where the text is not JSON. */
function stringOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
