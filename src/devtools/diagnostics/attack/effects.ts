import type { Attack, AttackCase } from './attack-case.ts';
import { type CaseResult, skipped } from './case-result.ts';
import { orderIdOf } from './probes.ts';

export const noEffects = 'an authentic delivery had no effect in time, so nothing is known';

const needsRecords =
  'only your records of the orders can tell: give `handled` (--handled-url or --handled-command)';
const needsNewOrders = 'it needs new orders, and the attack may use one alone (`order`)';

/** A case that needs the receiver's records, and effects of new orders unless `anyOrder`. */
export function effects({ run, ...described }: AttackCase, orders?: 'anyOrder'): AttackCase {
  return {
    ...described,
    async run(attack): Promise<CaseResult> {
      const { handled, probes } = attack;
      if (handled === undefined) return skipped(needsRecords);
      if (probes.order !== undefined && orders !== 'anyOrder') return skipped(needsNewOrders);
      return handled.isKnown() ? await run(attack) : skipped(noEffects);
    },
  };
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
  const numbers = await handled.counts([fenceId, ...ids]);
  const counts = ids.map((id) => numbers.get(id) ?? 0);
  return (numbers.get(fenceId) ?? 0) > 0 || counts.some((number) => number > 0) ? counts : undefined;
}
