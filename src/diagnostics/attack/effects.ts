import { type CheckResult, skipped } from '../check-result.ts';
import type { Attack, AttackCase } from './attack-case.ts';
import { orderIdOf } from './probes.ts';

export const noEffects = 'an authentic delivery had no effect in time, so nothing is known';

/** A case that needs the receiver's records. */
export function effects({ run, ...described }: AttackCase): AttackCase {
  return { ...described, run: async (attack) => cannotTell(attack) ?? (await run(attack)) };
}

/** The result of a case that needs the receiver's records; `undefined` if they can be read. */
export function cannotTell({ handled }: Attack): CheckResult | undefined {
  return handled === undefined
    ? skipped('only your records of the orders can tell: give `handled` (--handled-url or --handled-command)')
    : undefined;
}

interface EffectOptions {
  /** Waits for an effect of each order, not only of the delivery that is sent last. @default false */
  readonly ofEach?: boolean;
}

/** How often the receiver acted on each order; `undefined` if it does not act on authentic deliveries either. */
export async function effectsOf(
  attack: Attack,
  ids: readonly string[],
  { ofEach = false }: EffectOptions = {},
): Promise<number[] | undefined> {
  const { probes, post, handled, signal, timeoutMs } = attack;
  if (handled === undefined) return undefined;
  // The fence is sent last: when it is handled, the others are too, unless a worker has put one aside.
  const fence = probes.authentic();
  await post({ body: fence });
  const count = async (awaited: readonly string[]) => {
    const counts: number[] = [];
    for (const id of awaited) counts.push(await handled(id));
    return counts;
  };
  const awaited = [orderIdOf(fence), ...(ofEach ? ids : [])];
  const isOver = async () => (await count(awaited)).every((number) => number > 0);
  const longestMs = Math.min(1000, timeoutMs);
  for (let waited = 0; !(await isOver()) && waited < longestMs; waited += 50) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [ofFence = 0, ...counts] = await count([orderIdOf(fence), ...ids]);
  return ofFence > 0 || counts.some((number) => number > 0) ? counts : undefined;
}
