import { ConfigurationError, KeyError } from '../errors/errors.ts';
import { checkFunction } from '../internal/options.ts';
import { defineCredentials, plainCredentials } from './define-credentials.ts';
import {
  invalid,
  type KeyOrigin,
  namesOf,
  type PartnerCredentials,
  readOrigin,
} from './partner-credentials.ts';

/**
 * Keys that are read again while the program runs: see `createKeyRing`. It goes wherever `credentials` goes. The
 * members other than `reload` are for what uses the keys.
 */
export interface KeyRing {
  /** The keys that were read last, of any age; `undefined` before the first load. Reads nothing. */
  readonly loaded: KeySets | undefined;
  /** The keys, read first if they are missing or too old. @throws {KeyError} `keys_unavailable` */
  current(): KeySets | Promise<KeySets>;
  /**
   * Other keys, if there are any, when a signature matched none of these, or the service refused them; `undefined` if the
   * keys were just read again: a forgery, or a refusal that is not about keys.
   *
   * @param cause after a `signature` it reads at most once per cool-down. After a `refusal` it reads at once, unless the
   *   last load failed: only the service can cause it. @default 'signature'
   * @throws {KeyError} with `retryAfterMs` while that is not known: `keys_cooling_down` until they may be read again,
   *   `keys_not_loaded` when that failed, and what `checkSettled` throws
   */
  newerThan(used: KeySets, cause?: 'signature' | 'refusal'): Promise<KeySets | undefined>;
  /**
   * Throws if the source waits for still other keys than `newerThan` has just returned. Reads nothing.
   *
   * @throws {KeyError} `keys_not_received` when new keys were asked for and are not there yet, `keys_unconfirmed` while the
   *   newest ones may have been typed wrong
   */
  checkSettled(): void;
  /**
   * Reads the keys now, without waiting for the cool-down: for the program that has just changed them.
   * @throws {KeyError} `keys_not_loaded`
   */
  reload(): Promise<void>;
}

/** Also of another copy of the package. */
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
  throw new KeyError('keys_unavailable', 'The key ring has not read its keys yet.');
}

/** A ring that never changes. @throws {ConfigurationError} `invalid_credentials` */
export function fixedKeyRing(credentials: PartnerCredentials): KeyRing {
  const signing = defineCredentials(credentials);
  const sets = Object.freeze({ signing, verifying: Object.freeze([signing]) });
  return {
    loaded: sets,
    current: () => sets,
    newerThan: async () => undefined,
    checkSettled: () => {},
    reload: async () => {},
  };
}

/** The keys that sign and verify at one moment. Made by the `load` of a key ring. */
export interface KeySets {
  /** Signs what is sent. */
  readonly signing: PartnerCredentials;
  /**
   * Keys of a rotation that do not sign yet. A call that the service refuses with 401 or 403 is repeated once with them
   * (ledger: `old-keys-die`).
   */
  readonly pending?: PartnerCredentials | undefined;
  /** All that verify, `signing` and `pending` among them. `MatchedKey.index` is the place in this list. */
  readonly verifying: readonly PartnerCredentials[];
  /** Whether new keys were asked for that are not here yet: the service may sign with them already. */
  readonly awaited?: boolean | undefined;
  /**
   * Whether the newest keys may have been typed wrong: they were received after others, and no delivery has matched
   * them yet. It must be cheap.
   */
  readonly unconfirmed?: (() => boolean) | undefined;
  /**
   * Says that all sets are keys of one rotation, and so of one partner, whichever of them have a name. Sets whose names
   * differ are not.
   */
  readonly origin?: KeyOrigin | undefined;
  /** Called for each delivery that was verified, with the place in `verifying`. Nothing waits for it. */
  readonly matched?: ((index: number) => unknown) | undefined;
}

/** What the `load` of a key ring returns: one set of credentials, or several, newest first. */
export type LoadedKeys = PartnerCredentials | readonly PartnerCredentials[] | KeySets;

/** Reads credentials or a list of them: the first signs, and all verify. @throws {ConfigurationError} `invalid_credentials` */
export function keySetsOf(loaded: LoadedKeys): KeySets {
  if (typeof loaded === 'object' && loaded !== null && 'signing' in loaded) {
    const { signing, pending, verifying, awaited, unconfirmed } = loaded;
    // Without what a newer version may have added.
    const origin = readOrigin(loaded.origin);
    if (loaded.origin && !origin) throw invalid('The origin of the keys names no rotation.');
    return Object.freeze({
      signing: defineCredentials(signing),
      pending: pending && defineCredentials(pending),
      verifying: checkAll(verifying),
      awaited,
      unconfirmed: unconfirmed && checkFunction('unconfirmed', unconfirmed),
      origin: origin && Object.freeze(origin),
      matched: loaded.matched && checkFunction('matched', loaded.matched),
    });
  }
  const verifying = checkAll([loaded].flat());
  const [signing] = verifying;
  if (signing === undefined) throw new ConfigurationError('invalid_credentials', 'There are no credentials.');
  return Object.freeze({ signing, verifying });
}

export function sameKeySets(one: KeySets, other: KeySets): boolean {
  return fingerprint(one) === fingerprint(other);
}

function fingerprint({ signing, pending, verifying, origin }: KeySets): string {
  return JSON.stringify([
    plainCredentials(signing),
    pending ? plainCredentials(pending) : null,
    verifying.map(plainCredentials),
    origin ? [origin.rotation, namesOf(origin)] : null,
  ]);
}

function checkAll(list: readonly PartnerCredentials[]): readonly PartnerCredentials[] {
  return Object.freeze(list.map(defineCredentials));
}
