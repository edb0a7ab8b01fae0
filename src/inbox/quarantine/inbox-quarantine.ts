import type { RecordStore } from '../../store/record-store.ts';
import type { InboxHost } from '../inbox.ts';
import { limitStoreCalls } from '../store-calls.ts';
import type { CountedQuarantine } from './quarantine.ts';
import { type RecordQuarantineOptions, recordQuarantine } from './record-quarantine.ts';

interface InboxQuarantineOptions extends RecordQuarantineOptions {
  readonly storeTimeoutMs: number;
  readonly maxPending: number;
  /** Throws once the inbox stops. */
  readonly checkReceives: () => void;
}

/** Anybody can send such bodies, so fewer of them may wait for the store than authentic deliveries. */
const mostPending = 100;

/** The quarantine of an inbox, with the time limit of its store, until it stops; `undefined` with `quarantineMs: 0`. */
export function storedQuarantine(
  store: RecordStore,
  options: InboxQuarantineOptions,
): CountedQuarantine | undefined {
  const { quarantineMs, storeTimeoutMs, maxPending, checkReceives } = options;
  if (quarantineMs === 0) return undefined;
  const quarantine = recordQuarantine(store, options);
  const callToKeep = limitStoreCalls({ storeTimeoutMs, maxPending: Math.min(maxPending, mostPending) });
  const call = limitStoreCalls({ storeTimeoutMs, maxPending });
  return {
    async keep(body) {
      checkReceives();
      return await callToKeep(() => quarantine.keep(body));
    },
    async list(page) {
      checkReceives();
      return await call(() => quarantine.list(page));
    },
    // A stop ends no removal: the inbox may have got the body just before.
    remove: (ids) => call(() => quarantine.remove(ids)),
    count: () => call(() => quarantine.count()),
  };
}

const reviewEveryMs = 2_000;

/** Has the quarantine reviewed while a process handles deliveries, also if it receives none. @returns how to end it */
export function reviewRegularly(host: InboxHost): () => void {
  const timer = setInterval(() => void host.review?.(), reviewEveryMs);
  timer.unref?.();
  return () => clearInterval(timer);
}

/** The same for a process that may stay or not: at most as often as above, when something else is done. */
export function reviewNowAndThen(): (host: InboxHost) => Promise<void> {
  let reviewedAt = Number.NEGATIVE_INFINITY;
  return async (host) => {
    if (performance.now() - reviewedAt < reviewEveryMs) return;
    reviewedAt = performance.now();
    await host.review?.();
  };
}
