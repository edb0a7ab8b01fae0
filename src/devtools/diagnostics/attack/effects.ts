import type { Attack, AttackCase } from './attack-case.ts';
import { type CaseResult, skipped } from './case-result.ts';
import { orderIdOf } from './probes.ts';

/** The receiver's records of the orders. */
export type Effects = ReturnType<typeof readEffects>;

/** A count costs a request or a process of the owner. */
const atOnce = 8;
const longestPauseMs = 800;

export function readEffects(
  count: (partnerOrderId: string) => number | Promise<number>,
  { pause, timeoutMs }: { readonly pause: (ms: number) => Promise<void>; readonly timeoutMs: number },
) {
  let isKnown = true;
  const counts = async (ids: readonly string[]) => {
    const numbers = new Map<string, number>();
    for (let start = 0; start < ids.length; start += atOnce) {
      const group = ids.slice(start, start + atOnce);
      await Promise.all(group.map(async (id) => numbers.set(id, await count(id))));
    }
    return numbers;
  };
  return {
    counts,
    /** Waits until each order has as many effects as are due, or until the time is over. */
    async awaited(due: ReadonlyMap<string, number>) {
      const begun = performance.now();
      const numbers = new Map<string, number>();
      let missing = [...due.keys()];
      for (let pauseMs = 25; ; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
        for (const [id, number] of await counts(missing)) numbers.set(id, number);
        missing = missing.filter((id) => (numbers.get(id) ?? 0) < (due.get(id) ?? 0));
        const leftMs = timeoutMs - (performance.now() - begun);
        if (missing.length === 0 || leftMs <= 0) return numbers;
        await pause(Math.min(pauseMs, leftMs));
      }
    },
    /** Nothing authentic had an effect: then effects prove nothing. */
    giveUp: () => {
      isKnown = false;
    },
    isKnown: () => isKnown,
  };
}

/** Waits for one effect of each order. */
export function oneOfEach(ids: readonly string[]): ReadonlyMap<string, number> {
  return new Map(ids.map((id) => [id, 1]));
}

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
