import type { JsonValue } from '../internal/json.ts';
import { invalidOption } from '../internal/options.ts';

/**
 * Keeps small JSON records and changes several of them together, or none: orders, one-time codes, results of effects.
 * `describeRecordStore` of `./testing` checks an implementation of your own.
 */
export interface RecordStore {
  /**
   * Reads the records of some keys, applies `change` to them, and writes what it set and deleted: all of it, or nothing.
   * No other change of these keys, in any process, happens in between, also where a key has no record yet.
   *
   * When the promise resolves, the change is as durable as the engine makes it. Changes of one key from one process are
   * made in the order of the calls.
   *
   * @param keys 1 to 1,000 keys of 1 to 512 printable ASCII characters without blanks
   * @param change pure and synchronous: it may run more than once. If it throws, nothing is written, and the promise
   *   rejects with what it threw
   * @returns what `change` returned when its writes were committed
   * @throws {StoreError}
   * @throws {ConfigurationError} `invalid_option` for unsound keys or values
   * @example
   * ```ts
   * const count = await store.transact(['visits'], (records) => {
   *   const visits = Number(records.get('visits') ?? 0) + 1;
   *   records.set('visits', visits, { expiresAt: Date.now() + 86_400_000 });
   *   return visits;
   * });
   * ```
   */
  transact<Result>(keys: readonly string[], change: (records: RecordSet) => Result): Promise<Result>;

  /**
   * The records whose keys begin with `prefix`, in the order of their keys. Not a transaction: records written
   * meanwhile may be missing.
   *
   * @throws {StoreError}
   * @throws {ConfigurationError} `invalid_option`
   */
  list(options: ListRecordsOptions): Promise<StoredRecord[]>;

  /** Waits for transactions that have begun. A client that you gave stays open. */
  close(): Promise<void>;
}

/** The records of the keys of one transaction. Only to be used while `change` runs. */
export interface RecordSet {
  /** A copy of the value; `undefined` when it is missing or has expired. Sees what this change has set. */
  get(key: string): JsonValue | undefined;
  /**
   * @param value JSON data, up to 3 MiB as text
   * @param options.expiresAt when it is gone, in milliseconds since 1970; without it the record stays until it is
   *   deleted
   */
  set(key: string, value: JsonValue, options?: { readonly expiresAt?: number | undefined }): void;
  /** Deletes a record, if it is there. */
  delete(key: string): void;
}

/** Which records to list. */
export interface ListRecordsOptions {
  /** Printable ASCII; empty for all records. */
  readonly prefix: string;
  /** Only keys after this one: the last key of the page before. */
  readonly after?: string | undefined;
  /** Most records returned, 1 to 1,000. */
  readonly limit: number;
}

/** A record that `list` found. */
export interface StoredRecord {
  /** Its key. */
  readonly key: string;
  /** Its value: JSON data. */
  readonly value: JsonValue;
  /** Milliseconds since 1970; absent when it does not expire. */
  readonly expiresAt?: number;
}

/** @throws {ConfigurationError} `invalid_option` for what is no record store */
export function checkStore(given: unknown): RecordStore {
  // Sound as far as it can be: of a function only its being one can be checked.
  const store = given as RecordStore | undefined;
  if (typeof store?.transact === 'function' && typeof store.list === 'function') return store;
  throw invalidOption('store must be a record store, such as sqliteStore({ path }).');
}

/** Checks what the keys of one part of the package begin with. @throws {ConfigurationError} `invalid_option` */
export function checkPrefix(prefix: unknown): string {
  if (typeof prefix === 'string' && /^[\x21-\x7e]{1,200}$/.test(prefix)) return prefix;
  throw invalidOption('prefix must be 1 to 200 printable ASCII characters without blanks.');
}

/** Milliseconds that an expired record is kept: a clock may be ahead, and be set right. */
export const expiryGraceMs = 3_600_000;
