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
  const handled = new Set<string>();
  const underWay = new Set<string>();
  // A ring, the oldest at `first`: finding the first of a Map whose first are deleted takes longer than a signature.
  const digests: string[] = [];
  const times: number[] = [];
  let first = 0;

  function remember(digest: string): void {
    forget(maxRemembered - 1);
    const at = (first + handled.size) % maxRemembered;
    digests[at] = digest;
    times[at] = now();
    handled.add(digest);
  }

  function forget(atMost: number): void {
    const horizon = now() - rememberMs;
    while (handled.size > 0 && (handled.size > atMost || (times[first] ?? 0) <= horizon)) {
      handled.delete(digests[first] ?? '');
      first = (first + 1) % maxRemembered;
    }
  }

  return {
    async receive({ digest }, handle) {
      forget(maxRemembered);
      if (handled.has(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      underWay.add(digest);
      try {
        await withTimeLimit((signal) => handle({ signal }), timeLimitMs);
      } finally {
        underWay.delete(digest);
      }
      remember(digest);
      return 'handled';
    },
    get size() {
      return { remembered: handled.size, active: underWay.size };
    },
  };
}
