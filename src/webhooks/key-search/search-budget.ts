import { hash } from '../../signature/hash.ts';
import type { ResolvedKeySearchOptions } from './key-search-options.ts';

/** How much may be searched for keys. */
export interface SearchBudget {
  /** Takes what a search costs, and returns 0; or the milliseconds until there may be some again. */
  take(search: WantedSearch): number;
}

export interface WantedSearch {
  /** How many keys it tries at most. */
  readonly keys: number;
  /** Of the text that was signed: it is hashed again for each key. */
  readonly bytes: number;
  /** What the body says of its sender. */
  readonly sender: string;
}

/** An event has about one KiB. Longer texts cost as much as several, and pay for it from a part of their own. */
const ordinaryBytes = 4096;
const shares = 16;

/**
 * A number of keys a second, in parts, so that no flood takes all of it: half is for everybody, a quarter is shared out
 * by what bodies say of their sender, and a quarter is for long bodies. A flood that names one sender leaves the shares
 * of the others. One that names them all, or just this one, leaves each delivery the same chance, each time that it is
 * sent.
 */
export function searchBudget({ keysPerSecond, now }: ResolvedKeySearchOptions): SearchBudget {
  const common = tokenBucket(keysPerSecond / 2, now);
  const long = tokenBucket(keysPerSecond / 4, now);
  const shared = Array.from({ length: shares }, () => tokenBucket(keysPerSecond / 4 / shares, now));
  return {
    take({ keys, bytes, sender }) {
      if (bytes > ordinaryBytes) return long(keys * Math.ceil(bytes / ordinaryBytes));
      const share = Number.parseInt(hash('sha256', sender, 'hex').slice(0, 8), 16) % shares;
      const waitMs = common(keys);
      return waitMs === 0 ? 0 : Math.min(waitMs, shared[share]?.(keys) ?? waitMs);
    },
  };
}

/**
 * Takes a cost as soon as there is anything left, and goes into debt for the rest. If it waited until there is enough, a
 * costly search would wait for ever beside many cheap ones.
 */
function tokenBucket(perSecond: number, now: () => number): (cost: number) => number {
  let level = perSecond;
  let at = now();
  return (cost) => {
    const time = now();
    // A clock that was set back adds nothing.
    level = Math.min(perSecond, level + (Math.max(0, time - at) / 1000) * perSecond);
    at = time;
    if (level <= 0) return Math.floor((-level / perSecond) * 1000) + 1;
    level -= cost;
    return 0;
  };
}
