import { isStoreError, StoreError } from '../errors/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';

/**
 * One kind of record, as this version reads and writes it. Its version is the member `version`; absent, it is 1, the only
 * one so far. A form that this version would misread gets the next number, on each of its records, those of its indexes
 * too. Members that it may ignore need none, because writing keeps them: so an update can go on while older processes run.
 *
 * @param what begins a sentence: "The record of an effect"
 * @param members names every member that this version reads or writes
 * @param check reads a record that may be another program's, or of an unexpected shape
 */
export function storedForm<Value extends object>(
  what: string,
  members: Readonly<Record<keyof Value & string, unknown>>,
  check: (stored: JsonValue) => Value | undefined = trusted,
) {
  return {
    /** The value of a record; `undefined` without one. @throws {StoreError} `newer_format` */
    read(stored: JsonValue | undefined): Value | undefined {
      return stored === undefined ? undefined : check(refuseNewer(stored, what));
    },
    /** The record of a value. @param former the record that it replaces: what a newer version wrote into it stays */
    write(value: Value, former: JsonValue | undefined): JsonObject {
      const known = Object.entries(value).filter(([, member]) => member !== undefined);
      return { ...unknownMembers(former, members), ...Object.fromEntries(known) };
    },
  };
}

function trusted<Value>(stored: JsonValue): Value | undefined {
  // Sound: without a check of its own, only `write` makes records under the keys of a form.
  return isJsonObject(stored) ? (stored as unknown as Value) : undefined;
}

/** Whether a newer version of this package wrote a record that this one would misread. */
export function isNewer(stored: unknown): boolean {
  return isJsonObject(stored) && typeof stored.version === 'number' && stored.version > 1;
}

/** @param what begins a sentence */
export function newerFormat(what: string): StoreError {
  return new StoreError(
    'newer_format',
    `${what} is in the form of a newer version of this package, and was left as it is.`,
  );
}

/** Whether another process may be able to read it. */
export function isNewerFormat(error: unknown): boolean {
  return isStoreError(error) && error.code === 'newer_format';
}

/**
 * Called before anything is read from what is no record: a message, a file, a part of another form.
 *
 * @param what begins a sentence
 * @throws {StoreError} `newer_format`
 */
export function refuseNewer<Stored>(stored: Stored, what: string): Stored {
  if (isNewer(stored)) throw newerFormat(what);
  return stored;
}

/** Names every member of a stored object that this version reads or writes. */
export type KnownMembers<Stored extends object> = Readonly<Record<keyof Stored & string, true>>;

/** The members of a stored object that this version does not know: a newer version has written them. */
export function unknownMembers(stored: unknown, known: object): JsonObject {
  if (!isJsonObject(stored)) return {};
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !Object.hasOwn(known, name)));
}
