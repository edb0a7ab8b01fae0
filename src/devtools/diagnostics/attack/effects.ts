import { type CheckResult, skipped } from '../check-result.ts';
import type { Attack, AttackCase } from './attack-case.ts';
import { orderIdOf } from './probes.ts';

export const noEffects = 'an authentic delivery had no effect in time, so nothing is known';

const needsRecords =
  'only your records of the orders can tell: give `handled` (--handled-url or --handled-command)';

/** A case that needs the receiver's records. */
export function effects({ run, ...described }: AttackCase): AttackCase {
  return { ...described, run: async (attack) => cannotTell(attack) ?? (await run(attack)) };
}

/** The result of a case that needs the receiver's records; `undefined` if they can be read. */
function cannotTell({ handled }: Attack): CheckResult | undefined {
  if (handled === undefined) return skipped(needsRecords);
  return handled.isKnown() ? undefined : skipped(noEffects);
}

/** How often the receiver acted on each order; `undefined` if it does not act on authentic deliveries either. */
export async function effectsOf(
  { probes, post, handled }: Attack,
  ids: readonly string[],
  due: ReadonlyMap<string, number> = new Map(),
): Promise<number[] | undefined> {
  if (handled === undefined) return undefined;
  // The fence is sent last: when it is handled, the others are too, unless a worker has put one aside.
  const fence = probes.authentic();
  const fenceId = orderIdOf(fence);
  await post({ body: fence });
  await handled.awaited(new Map([...due, [fenceId, 1]]));
  const found = await handled.counts([fenceId, ...ids]);
  const counts = ids.map((id) => found.get(id) ?? 0);
  return (found.get(fenceId) ?? 0) > 0 || counts.some((number) => number > 0) ? counts : undefined;
}
