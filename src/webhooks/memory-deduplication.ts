import type { Inbox } from './inbox.ts';

/**
 * Remembers the digests of handled deliveries, the newest `maxRemembered` of them. A delivery that failed is
 * forgotten, so that its repetition is handled.
 */
export function memoryDeduplication(maxRemembered: number): Inbox {
  const handled = new Set<string>();
  const underWay = new Set<string>();
  return {
    async receive({ digest }, handle) {
      if (handled.has(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      underWay.add(digest);
      try {
        await handle();
      } finally {
        underWay.delete(digest);
      }
      handled.add(digest);
      // A Set keeps the order of insertion: the first is the oldest.
      for (const oldest of handled) {
        if (handled.size <= maxRemembered) break;
        handled.delete(oldest);
      }
      return 'handled';
    },
  };
}
