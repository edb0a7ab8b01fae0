import { isWholeProcess } from '../internal/runtime.ts';
import { handleWithin } from './handling-attempt.ts';
import type { Handling } from './handling-options.ts';
import type { DeliveryReference, HandleDelivery, HandleResult, InboxResult } from './inbox.ts';

export interface MemoryDeduplicationOptions extends Pick<Handling, 'rememberMs' | 'timeLimitMs' | 'now'> {
  /** How many of the newest handled deliveries are remembered at least; twice as many at most. */
  readonly maxRemembered: number;
}

interface UnderWay {
  /** `performance.now()`, which is never set back. */
  readonly begun: number;
  /** One per delivery: a shared signal would keep references to what workerd dropped. */
  readonly controller: AbortController;
  /** Set in the same turn of the event loop. */
  done?: Promise<HandleResult>;
}

/**
 * Handles before it acknowledges, and remembers the digests of the newest deliveries that were handled. A delivery that
 * failed or was ignored is forgotten, so that its repetition is handled.
 */
export function memoryDeduplication({
  maxRemembered,
  rememberMs,
  timeLimitMs,
  now,
}: MemoryDeduplicationOptions) {
  // Two generations, by when each was handled: dropping the older one takes the same time however many it holds.
  let newer = new Map<string, number>();
  let older = new Map<string, number>();
  const underWay = new Map<string, UnderWay>();
  const mayBeDropped = !isWholeProcess();

  function remember(digest: string): void {
    if (newer.size >= maxRemembered) [older, newer] = [newer, new Map()];
    newer.set(digest, now());
  }

  function isRemembered(digest: string): boolean {
    const handledAt = newer.get(digest) ?? older.get(digest);
    return handledAt !== undefined && handledAt > now() - rememberMs;
  }

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
      if (isRemembered(digest)) return 'duplicate';
      if (underWay.has(digest)) return 'busy';
      const controller = new AbortController();
      const mine: UnderWay = { begun, controller };
      underWay.set(digest, mine);
      try {
        mine.done = handleWithin(timeLimitMs, controller.signal, (signal) => handle({ signal }));
        if ((await mine.done) !== 'handled') return 'ignored';
      } finally {
        if (underWay.get(digest) === mine) underWay.delete(digest);
      }
      remember(digest);
      return 'handled';
    },
    /** Remembers a delivery as if it had been handled. */
    remember,
    /** The deliveries being handled now: each settles when its handler has ended or was aborted. */
    active: (): Promise<unknown>[] => [...underWay.values()].flatMap(({ done }) => done ?? []),
    /** Aborts everything that is being handled. */
    cutOff(reason: unknown): void {
      for (const { controller } of underWay.values()) controller.abort(reason);
    },
  };
}
