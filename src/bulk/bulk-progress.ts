import { callHook } from '../internal/warn.ts';
import type { BulkResult, BulkState } from './bulk-rows.ts';

/** How far a run is. A snapshot. */
export interface BulkProgress extends Readonly<Record<BulkState, number>> {
  /** Rows with a result; the sum of the states. */
  readonly done: number;
  /** Of these, the rows whose result is that of an earlier run or another process. */
  readonly replayed: number;
  /** Rows in all, if that is known. */
  readonly total: number | undefined;
  /** Rows tried per second in this run. */
  readonly perSecond: number;
  /** Milliseconds until the last row at this rate, if `total` is known. */
  readonly remainingMs: number | undefined;
  /** Whether `pause` was called, and `resume` was not. */
  readonly isPaused: boolean;
}

/** How often `onProgress` is called. */
const reportEveryMs = 1000;

/** Counts results, and reports with the first one of each second. */
export function countProgress(options: {
  readonly total: number | undefined;
  readonly now: () => number;
  readonly isPaused: () => boolean;
  readonly onProgress: ((progress: BulkProgress) => unknown) | undefined;
}) {
  const { total, now, isPaused, onProgress } = options;
  const states: Record<BulkState, number> = {
    sent: 0,
    refused: 0,
    'not-sent': 0,
    unknown: 0,
    duplicate: 0,
    invalid: 0,
  };
  let done = 0;
  let replayed = 0;
  let begunAt: number | undefined;
  let reportedAt = 0;

  function current(): BulkProgress {
    const tried = done - replayed - states.invalid - states.duplicate;
    const elapsedMs = begunAt === undefined ? 0 : Math.max(0, now() - begunAt);
    const perSecond = elapsedMs === 0 ? 0 : (tried * 1000) / elapsedMs;
    const left = total === undefined ? undefined : Math.max(0, total - done);
    const remainingMs =
      left === undefined || (perSecond === 0 && left > 0) ? undefined : (left / (perSecond || 1)) * 1000;
    return {
      ...states,
      done,
      replayed,
      total,
      perSecond,
      remainingMs: remainingMs === undefined ? undefined : Math.round(remainingMs),
      isPaused: isPaused(),
    };
  }

  function report(): void {
    if (onProgress !== undefined) callHook('onProgress', () => onProgress(current()));
  }

  return {
    current,
    begin(): void {
      begunAt ??= now();
      reportedAt = begunAt;
    },
    add(result: BulkResult): void {
      states[result.state]++;
      done++;
      if (result.replayed) replayed++;
      const at = now();
      // Also when the clock was set back.
      if (Math.abs(at - reportedAt) < reportEveryMs) return;
      reportedAt = at;
      report();
    },
    end: report,
  };
}
