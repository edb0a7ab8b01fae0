import { digestMemory } from './digest-memory.ts';
import type { Inbox } from './inbox.ts';
import { withTimeLimit } from './time-limit.ts';

export interface MemoryDeduplicationOptions {
  /** How many handled deliveries are remembered at most; the oldest is forgotten. */
  readonly maxRemembered: number;
  /** Milliseconds until a handled delivery is forgotten. */
  readonly rememberMs: number;
  /** Milliseconds until a handler is cut off: without it, one that never settles would keep its delivery busy. */
  readonly timeLimitMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Handles before it acknowledges, and remembers what was handled. */
export interface MemoryDeduplication extends Inbox {
  /** How many deliveries are remembered, and how many are being handled. */
  readonly size: { readonly remembered: number; readonly active: number };
}

/**
 * Remembers the digests of handled deliveries, the newest `maxRemembered` of them. A delivery that failed is
 * forgotten, so that its repetition is handled.
 */
export function memoryDeduplication(options: MemoryDeduplicationOptions): MemoryDeduplication {
  const { maxRemembered, rememberMs, timeLimitMs, now } = options;
  const handled = digestMemory(maxRemembered);
  const underWay = new Set<string>();

  return {
    async receive({ digest }, handle) {
      handled.forget(now() - rememberMs);
      if (handled.has(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      underWay.add(digest);
      try {
        await withTimeLimit(handle, timeLimitMs);
      } finally {
        underWay.delete(digest);
      }
      handled.add(digest, now());
      return 'handled';
    },
    get size() {
      return { remembered: handled.size, active: underWay.size };
    },
  };
}
