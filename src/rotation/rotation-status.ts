import type { RetiredGeneration, RotationState } from './rotation-state.ts';

/** Where a rotation stands. Holds no key. All times are milliseconds since 1970. */
export interface RotationStatus {
  /**
   * - `empty`: there are no keys; `receive` the first ones.
   * - `idle`: nothing is under way; `request` new keys.
   * - `unknown`: keys were asked for, but whether the service got that is not known.
   * - `requested`: the service accepted the request; open the link, and `receive` the keys.
   * - `received`: the new keys are stored; `promote` them.
   */
  readonly step: 'empty' | 'idle' | 'unknown' | 'requested' | 'received';
  /** When keys were asked for, until they are promoted. */
  readonly requestedAt?: number | undefined;
  /** What signs, what is pending, and what was replaced: in this order, the newest first. */
  readonly keys: readonly KeyStatus[];
}

export interface KeyStatus {
  /** From 1, in the order in which the keys were received. */
  readonly generation: number;
  readonly role: 'signing' | 'pending' | 'replaced';
  readonly receivedAt: number;
  /** When they were replaced. */
  readonly replacedAt?: number | undefined;
  /** When a delivery last matched replaced keys, to within an hour. */
  readonly matchedAt?: number | undefined;
  /** Until when replaced keys verify. */
  readonly verifiesUntil?: number | undefined;
}

export function statusOf(
  state: RotationState,
  verifiesUntil: (generation: RetiredGeneration) => number,
): RotationStatus {
  const { current, pending, request, retired } = state;
  const live: KeyStatus[] = [];
  if (current) live.push({ generation: current.number, role: 'signing', receivedAt: current.receivedAt });
  if (pending) live.push({ generation: pending.number, role: 'pending', receivedAt: pending.receivedAt });
  return {
    step: stepOf(state),
    ...(request && { requestedAt: request.at }),
    keys: [
      ...live,
      ...retired.map((each) => ({
        generation: each.number,
        role: 'replaced' as const,
        receivedAt: each.receivedAt,
        replacedAt: each.retiredAt,
        ...(each.matchedAt !== undefined && { matchedAt: each.matchedAt }),
        verifiesUntil: verifiesUntil(each),
      })),
    ],
  };
}

function stepOf({ current, pending, request }: RotationState): RotationStatus['step'] {
  if (current === undefined) return 'empty';
  if (pending !== undefined) return 'received';
  if (request === undefined) return 'idle';
  return request.answered ? 'requested' : 'unknown';
}
