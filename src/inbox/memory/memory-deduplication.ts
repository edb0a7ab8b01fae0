import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { Inbox } from '../inbox.ts';
import { rememberedDigests } from './remembered-digests.ts';

export interface MemoryDeduplicationOptions {
  /** Most handled deliveries remembered; beyond it the oldest is forgotten. */
  readonly maxRemembered: number;
  /** Milliseconds before a handled delivery is forgotten. */
  readonly rememberMs: number;
  /** Milliseconds before a handler is aborted: one that never settles would keep its delivery busy. */
  readonly timeLimitMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether `cutOff` will be called, which needs an AbortController per delivery. @default false */
  readonly stoppable?: boolean | undefined;
}

/** Handles before it acknowledges, and remembers what was handled. */
export interface MemoryDeduplication extends Inbox {
  /** How many deliveries are remembered, and how many are being handled. */
  readonly size: { readonly remembered: number; readonly active: number };
  /** Remembers a delivery as if it had been handled. */
  remember(digest: string): void;
  /** The deliveries being handled now: each settles when its handler has ended or was aborted. */
  active(): Promise<unknown>[];
  /** Aborts everything that is being handled. */
  cutOff(reason: unknown): void;
}

interface UnderWay {
  /** `performance.now()`, which is never set back. */
  readonly begun: number;
  /** One per delivery: a shared signal would keep references to what workerd dropped. */
  readonly controller: AbortController | undefined;
  /** Set in the same turn of the event loop. */
  done?: Promise<void>;
}

/**
 * Remembers the digests of handled deliveries, the newest `maxRemembered` of them. A delivery that failed is
 * forgotten, so that its repetition is handled.
 */
export function memoryDeduplication(options: MemoryDeduplicationOptions): MemoryDeduplication {
  const { maxRemembered, rememberMs, timeLimitMs, now, stoppable = false } = options;
  const handled = rememberedDigests(maxRemembered);
  const underWay = new Map<string, UnderWay>();

  /** When a request is cancelled, workerd drops its work without firing timers or running `finally`. */
  function forgetDropped(begunNow: number): void {
    for (const [digest, { begun }] of underWay) {
      if (begun > begunNow - timeLimitMs * 2) break;
      underWay.delete(digest);
    }
  }

  return {
    async receive({ digest }, handle) {
      const begun = performance.now();
      if (underWay.size > 0) forgetDropped(begun);
      handled.forget(now() - rememberMs);
      if (handled.has(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      const controller = stoppable ? new AbortController() : undefined;
      const mine: UnderWay = { begun, controller };
      underWay.set(digest, mine);
      try {
        mine.done = withTimeLimit(handle, timeLimitMs, controller?.signal);
        await mine.done;
      } finally {
        if (underWay.get(digest) === mine) underWay.delete(digest);
      }
      handled.add(digest, now());
      return 'handled';
    },
    get size() {
      return { remembered: handled.size, active: underWay.size };
    },
    remember: (digest) => handled.add(digest, now()),
    active: () => [...underWay.values()].flatMap(({ done }) => done ?? []),
    cutOff(reason) {
      for (const { controller } of underWay.values()) controller?.abort(reason);
    },
  };
}
