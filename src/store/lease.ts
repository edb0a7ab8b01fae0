import { type ProcessIdentity, type ProcessView, viewProcesses } from './process-identity.ts';

/** The right to work on a record until a time; only the holder of its token may write the result. */
export interface Lease {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  /** When it ends by itself, in milliseconds since 1970. */
  readonly until: number;
  /** The process that took it, where the system names processes: its lease ends with it. */
  readonly holder?: ProcessIdentity | undefined;
}

/** The most by which the clocks of two machines are expected to differ. */
export const clockSkewMs = 60_000;

/** Whether a time lies so far ahead that the clock must have been set back since. */
export function isAhead(time: number, now: number): boolean {
  return time > now + clockSkewMs;
}

/** Takes a lease for this process. */
export function takeLease({ now, leaseMs, processes = anywhere }: LeaseTime): Lease {
  const takenAt = Math.floor(now);
  const holder = processes.self();
  return { token: crypto.randomUUID(), takenAt, until: takenAt + leaseMs, ...(holder && { holder }) };
}

/** Whether a lease still holds: it is not over, was not taken before the clock was set back, and its process lives. */
export function isHeld(
  { until, takenAt, holder }: Lease,
  { now, processes = anywhere }: Omit<LeaseTime, 'leaseMs'>,
): boolean {
  if (until <= now || isAhead(takenAt, now)) return false;
  return holder === undefined || !processes.hasEnded(holder);
}

interface LeaseTime {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly leaseMs: number;
  /** @default processes that may run on other machines, too */
  readonly processes?: ProcessView;
}

const anywhere = viewProcesses('anywhere');
