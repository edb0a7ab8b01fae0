import type { Backoff } from '../internal/backoff.ts';
import type { JsonValue } from '../internal/json.ts';
import { unknownMembers } from '../internal/unknown-members.ts';
import { isAhead, isUnsettled, type OrderRecord, stateAt } from './order-record.ts';

/** Of a listed order: what tells which job there is, without its record. */
export type ListedOrder = Pick<OrderRecord, (typeof listedMembers)[number]> & { readonly idDigest: string };

const listedMembers = [
  'state',
  'openedAt',
  'changedAt',
  'askedAt',
  'leaseUntil',
  'notBefore',
  'attempts',
  'unreported',
  'handedOver',
  'claimedUntil',
  'attention',
] as const satisfies readonly (keyof OrderRecord)[];

/**
 * The record of an order in the index of those for which there may be a job, or which need a person.
 *
 * @param former of the same order, whose members of a newer version stay
 */
export function toIndexEntry(record: OrderRecord, former: JsonValue | undefined): JsonValue | undefined {
  const { unreported, attention } = record;
  if (!isUnsettled(record) && unreported === undefined && attention === undefined) return undefined;
  const entry = Object.fromEntries(listedMembers.map((name) => [name, record[name]]));
  // Sound: a record has only JSON members, and those that are `undefined` are left out.
  return { ...unknownMembers(former, entry), ...entry } as JsonValue;
}

/** Something to do about an order that no caller waits for. */
export type Job = 'send' | 'report' | 'hand-over';

export interface JobRules {
  readonly now: number;
  readonly leaseMs: number;
  readonly maxAgeMs: number;
  readonly evidenceWithinMs: number;
  readonly retry: Backoff;
  /** Whether there is an `onSettled` to report to. */
  readonly reports: boolean;
}

/** `undefined` if there is nothing to do about it now. */
export function jobOf(
  order: Omit<ListedOrder, 'idDigest'>,
  { now, leaseMs, maxAgeMs, evidenceWithinMs, retry, reports }: JobRules,
): Job | undefined {
  const { claimedUntil = 0, askedAt = order.openedAt, changedAt, attempts, notBefore } = order;
  // A claim that ends after any that could be made now was made before the clock was set back.
  if (claimedUntil > now && !isAhead(claimedUntil - leaseMs, now)) return undefined;
  if (order.unreported === true) return reports ? 'report' : undefined;
  const state = stateAt(order, now);
  if (state === 'sending' || !isUnsettled(order)) return undefined;
  const [since, mostMs] = state === 'unknown' ? [unknownSince(order), evidenceWithinMs] : [askedAt, maxAgeMs];
  if (now - since > mostMs || isAhead(since, now)) return order.handedOver === true ? undefined : 'hand-over';
  if (state === 'unknown') return undefined;
  // The loop sends one at a time until the service takes the new keys.
  if (state === 'waiting' && notBefore === undefined) return 'send';
  const dueAt = Math.max(notBefore ?? 0, changedAt + pauseAfter(attempts, retry));
  return dueAt <= now || isAhead(changedAt, now) ? 'send' : undefined;
}

/** The reply was lost, or the lease of a process that died is over. */
function unknownSince({
  state,
  changedAt,
  leaseUntil,
}: Pick<ListedOrder, 'state' | 'changedAt' | 'leaseUntil'>) {
  return state === 'sending' ? (leaseUntil ?? changedAt) : changedAt;
}

/** The same in every process. A prepared order gets the first pause too: its caller may be about to send it. */
export function pauseAfter(attempts: number, { firstDelayMs, maxDelayMs }: Backoff): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(Math.max(attempts, 1) - 1, 50));
}
