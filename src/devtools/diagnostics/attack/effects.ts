import type { AttackCase } from './attack-case.ts';
import { type CaseResult, skipped } from './case-result.ts';

const noEffects = 'an authentic delivery had no effect in time, so nothing is known';

const needsRecords = 'only your records of the orders can tell: give `handled` (--handled-command)';
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
