import { StoreError } from '../errors/errors.ts';
import { findNonJson, type JsonValue, tryParse } from '../internal/json.ts';
import {
  checkInteger,
  defineOptions,
  integer,
  invalidOption,
  type OptionTable,
  optional,
} from '../internal/options.ts';
import type { ListRecordsOptions, RecordSet, StoredRecord } from './record-store.ts';

/** `undefined` deletes the record. */
export type Write = RecordWrite | undefined;

export interface RecordWrite {
  readonly text: string;
  readonly expiresAt: number | undefined;
}

export interface AppliedChange<Result> {
  readonly result: Result;
  /** Without the keys that the change left alone. */
  readonly writes: ReadonlyMap<string, Write>;
}

/**
 * Runs a change over what was read.
 *
 * @param found the JSON text of each key that has a record that has not expired
 * @throws what the change throws; {@link ConfigurationError} `invalid_option` if it is unsound
 */
export function applyChange<Result>(
  keys: readonly string[],
  found: ReadonlyMap<string, string>,
  change: (records: RecordSet) => Result,
): AppliedChange<Result> {
  const allowed = new Set(keys);
  const writes = new Map<string, Write>();
  let isOver = false;
  const check = (key: string): void => {
    if (isOver) throw invalidOption('The records of a transaction can only be used while its change runs.');
    if (!allowed.has(key)) throw invalidOption('A change used a key that its transaction does not name.');
  };
  const records: RecordSet = {
    get(key) {
      check(key);
      const text = writes.has(key) ? writes.get(key)?.text : found.get(key);
      return text === undefined ? undefined : readRecordText(text);
    },
    set(key, value, { expiresAt } = {}) {
      check(key);
      if (expiresAt !== undefined) checkInteger('expiresAt', expiresAt, { least: 0 });
      writes.set(key, { text: toRecordText(value), expiresAt });
    },
    delete(key) {
      check(key);
      writes.set(key, undefined);
    },
  };
  let result: Result;
  try {
    result = change(records);
  } finally {
    isOver = true;
  }
  if (isThenable(result)) {
    // Its outcome does not concern this transaction.
    result.then(undefined, () => {});
    throw invalidOption('The change of a transaction must be synchronous: it may not return a promise.');
  }
  return { result, writes };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** They sort alike in every engine and mean nothing special in any. */
const printable = /^[\x21-\x7e]*$/;
const maxKeyLength = 512;
const maxKeys = 1000;
/** A delivery of 1 MiB fits, of which each character may be escaped. */
const maxTextLength = 3 * 1024 * 1024;

/** The keys of a transaction, each once. @throws {ConfigurationError} `invalid_option` */
export function checkRecordKeys(keys: readonly string[]): string[] {
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > maxKeys) {
    throw invalidOption(`The keys of a transaction must be a list of 1 to ${maxKeys}.`);
  }
  return [...new Set(keys.map(checkRecordKey))];
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkRecordKey(key: unknown): string {
  return checkKeyPart(key === '' ? undefined : key, 'A key');
}

function toRecordText(value: JsonValue): string {
  const issue = findNonJson(value);
  if (issue !== undefined) throw invalidOption(`The value of a record ${issue.message}.`);
  const text = JSON.stringify(value);
  if (text.length > maxTextLength) throw invalidOption('The value of a record is longer than 3 MiB.');
  return text;
}

/** @throws {ConfigurationError} `invalid_option` */
export const checkListOptions: (options: ListRecordsOptions) => ListRecordsOptions = defineOptions('list', {
  prefix: checkKeyPart,
  after: optional(checkKeyPart),
  limit: integer({ most: 1000 }),
} satisfies OptionTable<ListRecordsOptions>);

function checkKeyPart(given: unknown, name: string): string {
  if (typeof given === 'string' && given.length <= maxKeyLength && printable.test(given)) return given;
  throw invalidOption(
    `${name} must be text of up to ${maxKeyLength} printable ASCII characters, without blanks.`,
  );
}

/** Greater than every character of a key. */
export const afterAnyKey = '\u007f';

/** A record as `list` returns it. @throws {StoreError} `store_failed` */
export function toStoredRecord(key: string, { text, expiresAt }: RecordWrite): StoredRecord {
  return { key, value: readRecordText(text), ...(expiresAt !== undefined && { expiresAt }) };
}

/** A row of SQLite or PostgreSQL as `list` returns it. @throws {StoreError} `store_failed` */
export function rowToStoredRecord(row: Readonly<Record<string, unknown>>): StoredRecord {
  const expiresAt = row.expires_at === null ? undefined : Number(row.expires_at);
  return toStoredRecord(String(row.key), { text: String(row.value), expiresAt });
}

/** @throws {StoreError} `store_failed` if another program has changed it */
function readRecordText(text: string): JsonValue {
  const value = tryParse(text);
  if (value !== undefined) return value;
  throw new StoreError('store_failed', 'A record of the store is not JSON: another program has changed it.', {
    remedy: 'Restore the record, and give this package keys of its own.',
  });
}
