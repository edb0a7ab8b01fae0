import { isWholeProcess } from '../internal/runtime.ts';
import { handleWithin } from './handling-attempt.ts';
import type { DeliveryReference, HandleDelivery, HandleResult, InboxResult } from './inbox.ts';
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

interface UnderWay {
  /** `performance.now()`, which is never set back. */
  readonly begun: number;
  /** One per delivery: a shared signal would keep references to what workerd dropped. */
  readonly controller: AbortController | undefined;
  /** Set in the same turn of the event loop. */
  done?: Promise<HandleResult>;
}

/**
 * Handles before it acknowledges, and remembers the digests of the newest `maxRemembered` deliveries that were handled.
 * A delivery that failed or was ignored is forgotten, so that its repetition is handled.
 */
export function memoryDeduplication(options: MemoryDeduplicationOptions) {
  const { maxRemembered, rememberMs, timeLimitMs, now, stoppable = false } = options;
  const handled = rememberedDigests(maxRemembered);
  const underWay = new Map<string, UnderWay>();
  const mayBeDropped = !isWholeProcess();

  /** workerd drops the work of a cancelled request without timers or `finally`; elsewhere each ends by its time limit. */
  function forgetDropped(begunNow: number): void {
    for (const [digest, { begun }] of underWay) {
      if (begun > begunNow - timeLimitMs * 2) break;
      underWay.delete(digest);
    }
  }

  return {
    async receive({ digest }: DeliveryReference, handle: HandleDelivery): Promise<InboxResult> {
      const begun = performance.now();
      if (mayBeDropped) forgetDropped(begun);
      handled.forget(now() - rememberMs);
      if (handled.has(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      const controller = stoppable ? new AbortController() : undefined;
      const mine: UnderWay = { begun, controller };
      underWay.set(digest, mine);
      try {
        mine.done = handleWithin(timeLimitMs, controller?.signal, (signal) => handle({ signal }));
        if ((await mine.done) !== 'handled') return 'ignored';
      } finally {
        if (underWay.get(digest) === mine) underWay.delete(digest);
      }
      handled.add(digest, now());
      return 'handled';
    },
    /** How many deliveries are remembered, and how many are being handled. */
    get size(): { readonly remembered: number; readonly active: number } {
      return { remembered: handled.size, active: underWay.size };
    },
    /** Remembers a delivery as if it had been handled. */
    remember: (digest: string): void => handled.add(digest, now()),
    /** The deliveries being handled now: each settles when its handler has ended or was aborted. */
    active: (): Promise<unknown>[] => [...underWay.values()].flatMap(({ done }) => done ?? []),
    /** Aborts everything that is being handled. */
    cutOff(reason: unknown): void {
      for (const { controller } of underWay.values()) controller?.abort(reason);
    },
  };
}
