import { isJsonObject, type JsonValue } from '../../src/internal/json.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';

/** The member that a newer version writes into every object, in every place. */
const later = 'written_by_a_newer_version';
const mark = { of: ['any', { form: true }] };

/** Objects whose names are no members of a form. */
const isMap = (path: string) => path.endsWith('.merchantSecretKeys') || path === '.shares';

/** The value as a newer version would have written it: with one more member in each object. */
export function marked(value: JsonValue, path = ''): JsonValue {
  if (Array.isArray(value)) return value.map((each, index) => marked(each, `${path}.${index}`));
  if (!isJsonObject(value) || isMap(path)) return value;
  const members = Object.entries(value).filter(([name]) => name !== later);
  return {
    ...Object.fromEntries(members.map(([name, member]) => [name, marked(member, `${path}.${name}`)])),
    [later]: mark,
  };
}

/** The paths of the objects that had this member and have lost it. */
export function lostMarks(before: JsonValue | undefined, after: JsonValue | undefined, path = ''): string[] {
  if (Array.isArray(before) && Array.isArray(after))
    return before.flatMap((each, index) => lostMarks(each, after[index], `${path}.${index}`));
  if (!isJsonObject(before) || !isJsonObject(after) || isMap(path)) return [];
  // What a lease says of its holder ends with it.
  if (before.token !== after.token) return [];
  const isLost = before[later] !== undefined && JSON.stringify(after[later]) !== JSON.stringify(mark);
  const deeper = Object.keys(before)
    .filter((name) => name !== later)
    .flatMap((name) => lostMarks(before[name], after[name], `${path}.${name}`));
  return [...(isLost ? [path === '' ? '(the record)' : path] : []), ...deeper];
}

export interface NewerStoreOptions {
  readonly now: () => number;
  /** Whether what a newer version wrote has to go with the rest, such as all that is known of a handled delivery. */
  readonly mayForget?: (value: JsonValue) => boolean;
  /** The record that goes on under another key: index records move. */
  readonly familyOf?: (key: string) => string | undefined;
}

/** A store whose records a newer version writes again after every change, and what each change took from them. */
export function newerStore({ now, mayForget = () => false, familyOf = () => undefined }: NewerStoreOptions) {
  const inner = memoryStore({ now });
  const lost: string[] = [];
  const rewritten = new Set<string>();
  const store: RecordStore = {
    ...inner,
    transact: (keys, change) =>
      inner.transact(keys, (records) => {
        const before = new Map(keys.map((key) => [key, records.get(key)]));
        const written = new Map<string, JsonValue>();
        const deleted = new Set<string>();
        const result = change({
          get: (key) => records.get(key),
          set(key, value, options) {
            written.set(key, value);
            records.set(key, marked(value), options);
          },
          delete(key) {
            deleted.add(key);
            records.delete(key);
          },
        });
        for (const [key, value] of written) {
          const family = familyOf(key);
          const moved = family && [...deleted].find((other) => familyOf(other) === family);
          const earlier = before.get(key) ?? (moved === undefined ? undefined : before.get(moved));
          if (earlier === undefined || mayForget(value)) continue;
          rewritten.add(key);
          lost.push(...lostMarks(earlier, value).map((path) => `${key.slice(0, 20)}: ${path}`));
        }
        return result;
      }),
  };
  return { store, lost, rewritten };
}
