import type { BossJob } from './pg-boss-types.ts';

/** Leases jobs, and keeps those that arrive too late. */
export interface PendingFetch {
  /** Rejects if the store does not answer in time. */
  next(limit: number): Promise<BossJob[]>;
  /** A fetch that has not been answered yet. */
  readonly late: Promise<BossJob[]> | undefined;
}

/** A fetch that outlasts the store's time limit is not lost: the next call gets its jobs while their lease holds. */
export function pendingFetch(
  fetch: (limit: number) => Promise<BossJob[]>,
  { leaseMs, inTime }: { leaseMs: number; inTime: (jobs: Promise<BossJob[]>) => Promise<BossJob[]> },
): PendingFetch {
  let pending: { readonly jobs: Promise<BossJob[]>; readonly begun: number } | undefined;
  return {
    async next(limit) {
      const now = performance.now();
      if (pending === undefined || now - pending.begun >= leaseMs) {
        pending = { jobs: fetch(limit), begun: now };
      }
      const { jobs } = pending;
      const forget = () => {
        if (pending?.jobs === jobs) pending = undefined;
      };
      jobs.catch(forget);
      const fetched = await inTime(jobs);
      forget();
      return fetched;
    },
    get late() {
      return pending?.jobs;
    },
  };
}
