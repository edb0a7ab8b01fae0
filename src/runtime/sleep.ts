import { longestTimerMs } from './longest-timer.ts';

/** Resolves after this many milliseconds, or at once when the signal is aborted. Never rejects. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** With `setTimeout`: 24 days at most. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
