import { invalidOption } from '../options/check-values.ts';
import { checkExpiry, toRecordText } from './check-record.ts';
import { readRecordText } from './read-record-text.ts';
import type { RecordSet } from './record-store.ts';

/** What a change wants written for one key; `undefined` deletes it. */
export type Write = RecordWrite | undefined;

export interface RecordWrite {
  /** The value as JSON text. */
  readonly text: string;
  readonly expiresAt: number | undefined;
}

export interface AppliedChange<Result> {
  readonly result: Result;
  /** By key; keys that the change left alone are absent. */
  readonly writes: ReadonlyMap<string, Write>;
}

/**
 * Runs a change over what was read.
 *
 * @param found the JSON text of each key that has a record; without those that have expired
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
      writes.set(key, { text: toRecordText(value), expiresAt: checkExpiry(expiresAt) });
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
    // Whatever becomes of it, it is not this transaction's.
    result.then(undefined, () => {});
    throw invalidOption('The change of a transaction must be synchronous: it may not return a promise.');
  }
  return { result, writes };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
