import { isStoreError, StoreError } from '../errors/errors.ts';
import { isJsonObject } from './json.ts';

/**
 * The version of every form that is stored is its member `version`; absent, it is 1, the only one so far. A form that
 * this version would misread gets the next number, on each of its records, those of its indexes too. Members that it may
 * ignore need none: it keeps them (`unknownMembers`).
 */
export function isNewer(stored: unknown): boolean {
  return isJsonObject(stored) && typeof stored.version === 'number' && stored.version > 1;
}

/**
 * Called before anything is read from it, or written over it.
 *
 * @param what begins a sentence
 * @throws {StoreError} `newer_format`
 */
export function refuseNewer<Stored>(stored: Stored, what: string): Stored {
  if (isNewer(stored)) throw newerFormat(what);
  return stored;
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
