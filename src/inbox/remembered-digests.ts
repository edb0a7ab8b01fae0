interface Entry {
  readonly digest: string;
  readonly time: number;
}

/**
 * Digests and their times; the oldest is forgotten first. The ring spares V8 from stepping over every deleted entry
 * of the Set to find the first one left.
 */
export function rememberedDigests(maxSize: number) {
  const known = new Set<string>();
  // Grows to maxSize; after that each new entry replaces the oldest.
  const ring: (Entry | undefined)[] = [];
  let oldest = 0;

  function forgetOldest({ digest }: Entry): void {
    known.delete(digest);
    ring[oldest] = undefined;
    oldest = (oldest + 1) % maxSize;
  }

  return {
    get size(): number {
      return known.size;
    },
    has: (digest: string): boolean => known.has(digest),
    add(digest: string, time: number): void {
      if (known.has(digest)) return;
      const first = ring[oldest];
      if (known.size === maxSize && first !== undefined) forgetOldest(first);
      ring[(oldest + known.size) % maxSize] = { digest, time };
      known.add(digest);
    },
    forget(time: number): void {
      for (let first = ring[oldest]; first !== undefined && first.time <= time; first = ring[oldest]) {
        forgetOldest(first);
      }
    },
  };
}
