import { KeyError } from '../errors/key-error.ts';
import type { KeySets } from './key-sets.ts';

/**
 * Keys that are read again while the program runs: see `createKeyRing`. It goes wherever `credentials` goes. The
 * members other than `reload` are for what uses the keys.
 */
export interface KeyRing {
  /** The keys that were read last, whatever their age; `undefined` before the first load. Reads nothing. */
  readonly loaded: KeySets | undefined;
  /** The keys, read first if there are none or they are too old. @throws {KeyError} `keys_unavailable` */
  current(): KeySets | Promise<KeySets>;
  /**
   * To be called when a signature matched none of these keys, or the service refused them: other keys, if there are
   * any. Reads at most once per cool-down, and rejects never.
   */
  newerThan(used: KeySets): Promise<KeySets | undefined>;
  /**
   * Reads the keys now, whatever the cool-down says: for the program that has just changed them.
   * @throws {KeyError} `keys_not_loaded`
   */
  reload(): Promise<void>;
}

/** Whether it is a key ring, also of another copy of the package. Accepts anything. */
export function isKeyRing(value: unknown): value is KeyRing {
  if (typeof value !== 'object' || value === null || !('newerThan' in value)) return false;
  return typeof value.newerThan === 'function';
}

/**
 * The keys of a ring as they were read last, for a function that cannot wait for them.
 * @throws {KeyError} `keys_unavailable` before the first load
 */
export function loadedKeys(ring: KeyRing): KeySets {
  if (ring.loaded !== undefined) return ring.loaded;
  throw new KeyError(
    'keys_unavailable',
    'The key ring has not read its keys yet: await ring.reload() first.',
  );
}
