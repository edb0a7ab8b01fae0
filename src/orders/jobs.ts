import type { Backoff } from '../internal/backoff.ts';
import { isAhead } from '../store/lease.ts';
import type { OpenOrder } from './open-orders.ts';
import { isUnsettled, stateAt } from './order-record.ts';

/** Something to do about an order that no caller waits for. */
export type Job = 'send' | 'report' | 'hand-over';

export interface JobRules {
  readonly now: number;
  readonly leaseMs: number;
  readonly maxAgeMs: number;
  readonly evidenceWithinMs: number;
  readonly retry: Backoff;
  /** There is an `onSettled` to report to. */
  readonly reports: boolean;
}

/** `undefined` if there is nothing to do about it now. */
export function jobOf(
  order: Omit<OpenOrder, 'idDigest'>,
  { now, leaseMs, maxAgeMs, evidenceWithinMs, retry, reports }: JobRules,
): Job | undefined {
  const { claimedUntil = 0, askedAt, changedAt, attempts, notBefore } = order;
  // No claim made now could end so late: the clock was set back, so this one does not count.
  if (claimedUntil > now && !isAhead(claimedUntil - leaseMs, now)) return undefined;
  if (order.unreported === true) return reports ? 'report' : undefined;
  const state = stateAt(order, now);
  if (state === 'sending' || !isUnsettled(order)) return undefined;
  // The reply was lost, or the lease of a process that died is over.
  const unknownSince = order.state === 'sending' ? (order.leaseUntil ?? changedAt) : changedAt;
  const [since, mostMs] = state === 'unknown' ? [unknownSince, evidenceWithinMs] : [askedAt, maxAgeMs];
  if (now - since > mostMs || isAhead(since, now)) return order.handedOver === true ? undefined : 'hand-over';
  if (state === 'unknown') return undefined;
  // The loop sends one at a time until the service takes the new keys.
  if (state === 'waiting' && notBefore === undefined) return 'send';
  const dueAt = Math.max(notBefore ?? 0, changedAt + pauseAfter(attempts, retry));
  return dueAt <= now || isAhead(changedAt, now) ? 'send' : undefined;
}

/** Every process takes the same pause. A prepared order gets the first pause too: its caller may be about to send it. */
export function pauseAfter(attempts: number, { firstDelayMs, maxDelayMs }: Backoff): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(Math.max(attempts, 1) - 1, 50));
}
