/** Digests with the time of each, the oldest forgotten first. */
export interface RememberedDigests {
  readonly size: number;
  has(digest: string): boolean;
  /** Adds one, unless it is there; beyond `maxSize` the oldest is forgotten. */
  add(digest: string, time: number): void;
  /** Forgets the oldest as long as they were added at this time or before. */
  forget(time: number): void;
}

interface Entry {
  readonly digest: string;
  readonly time: number;
}

/**
 * A Set to look digests up in, and a ring of them in the order in which they were added. The order of the Set alone
 * would not do: V8 steps over all that was deleted before it finds the first one that is left.
 */
export function rememberedDigests(maxSize: number): RememberedDigests {
  const known = new Set<string>();
  // It grows to maxSize; what is added after that is written over the oldest.
  const ring: (Entry | undefined)[] = [];
  let oldest = 0;

  function forgetOldest({ digest }: Entry): void {
    known.delete(digest);
    ring[oldest] = undefined;
    oldest = (oldest + 1) % maxSize;
  }

  return {
    get size() {
      return known.size;
    },
    has: (digest) => known.has(digest),
    add(digest, time) {
      if (known.has(digest)) return;
      const first = ring[oldest];
      if (known.size === maxSize && first !== undefined) forgetOldest(first);
      ring[(oldest + known.size) % maxSize] = { digest, time };
      known.add(digest);
    },
    forget(time) {
      for (let first = ring[oldest]; first !== undefined && first.time <= time; first = ring[oldest]) {
        forgetOldest(first);
      }
    },
  };
}
