import { isJsonObject, type JsonObject } from './json.ts';

/** Names every member of a stored object that this version reads or writes. */
export type KnownMembers<Stored extends object> = Readonly<Record<keyof Stored & string, true>>;

/**
 * The members of a stored object that this version does not know: a newer version has written them. A process that
 * writes the object again keeps them, so that an update can go on while older processes still run.
 */
export function unknownMembers(stored: unknown, known: object): JsonObject {
  if (!isJsonObject(stored)) return {};
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !Object.hasOwn(known, name)));
}
