import { type KeyDirectory, keyDirectory } from '../../credentials/key-directory.ts';
import type { VerificationKeys } from '../../credentials/verification-keys.ts';
import type { WireNames } from '../../deployment/wire-names.ts';
import { KeyError } from '../../errors/key-error.ts';
import { type ClaimedBody, isSignedWith } from '../../signature/claimed-body.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { keyHints } from './key-hints.ts';
import { keyOrder } from './key-order.ts';
import type { ResolvedKeySearchOptions } from './key-search-options.ts';
import { learnedKeys } from './learned-keys.ts';
import { searchBudget } from './search-budget.ts';

export interface KeyFinderOptions {
  readonly scheme: SignatureScheme;
  readonly wireNames: WireNames;
  readonly keySearch: ResolvedKeySearchOptions;
}

/**
 * Finds the place of the key that signed a body, or -1: at once if it is a likely one, otherwise by trying all of them.
 *
 * The function throws {@link KeyError} `key_search_limited`.
 */
export type KeyFinder = (body: ClaimedBody, keys: VerificationKeys) => number | Promise<number>;

/**
 * Keys that are tried on every delivery: two that were learned, and two generations of a merchant. A forged one costs as
 * many whatever it says, so that the time of an answer does not tell which names are configured or orders known.
 */
const freeTries = 4;

/**
 * A search lets other work go first after so many bytes hashed: half a millisecond. All searches under way have a turn
 * before a connection has, and there may be 20 of them at once.
 */
const sliceBytes = 256 * 1024;

/** What a digest costs beside the bytes of the text. */
const bytesPerDigest = 1024;

export function keyFinder({ scheme, wireNames, keySearch }: KeyFinderOptions): KeyFinder {
  const learned = learnedKeys();
  const budget = searchBudget(keySearch);
  const directories = new WeakMap<VerificationKeys, KeyDirectory>();

  function directoryOf(keys: VerificationKeys): KeyDirectory {
    const directory = directories.get(keys) ?? keyDirectory(keys);
    directories.set(keys, directory);
    return directory;
  }

  return (body, verificationKeys) => {
    const { keys } = verificationKeys;
    const isSigner = (place: number) => isSignedWith(keys[place], body, scheme);
    if (keys.length === 1) return isSigner(0) ? 0 : -1;

    const directory = directoryOf(verificationKeys);
    const hints = keyHints(body.value, wireNames);
    const order = keyOrder({ directory, hints, learned });
    for (let tries = 0; tries < Math.min(keys.length, freeTries); tries++) {
      const place = order.next().value ?? -1;
      if (isSigner(place)) return confirm(place, tries === 0);
    }
    return keys.length > freeTries ? search() : -1;

    async function search(): Promise<number> {
      const bytes = Buffer.byteLength(body.text);
      const waitMs = budget.take({ keys: keys.length - freeTries, bytes, sender: hints.sender });
      if (waitMs > 0) throw limited(waitMs);
      let hashed = 0;
      for (const place of order) {
        if (isSigner(place)) return confirm(place, false);
        hashed += bytes + bytesPerDigest;
        if (hashed < sliceBytes) continue;
        hashed = 0;
        // Not a timer: those of several searches would expire one after the other, without a turn for connections.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return -1;
    }

    /** Learns from a body that was verified: never from another, so that nobody can push out what is known. */
    function confirm(place: number, wasFirst: boolean): number {
      const key = keys[place] ?? '';
      for (const hint of [hints.order, hints.sender]) {
        // What leads to its key without being learned need not be.
        if (hint === undefined || (wasFirst && learned.get(hint) === undefined)) continue;
        learned.learn({ hint, key, maxSize: 1000 + 8 * keys.length });
      }
      return directory.placeOf(key) ?? place;
    }
  };
}

function limited(retryAfterMs: number): KeyError {
  return new KeyError(
    'key_search_limited',
    'There are more deliveries whose key has to be searched for than keySearch allows.',
    { retryAfterMs },
  );
}
