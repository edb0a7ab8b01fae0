import { faultKinds, type Shrunk } from './plan.ts';
import type { Player } from './pool.ts';
import type { Played } from './worker.ts';

/** The least steps and kinds of faults that break the same promise, found by leaving out one part after another. */
export async function shrink(
  player: Player,
  {
    seed,
    number,
    breach,
    steps: all,
  }: Pick<Played, 'seed' | 'number' | 'steps'> & { readonly breach: string },
): Promise<Shrunk> {
  const kind = kindOf(breach);
  const fails = async (shrunk: Shrunk) => {
    const { breaches } = await player.play({ seed, number, shrunk });
    return breaches.some((one) => kindOf(one) === kind);
  };
  let steps = all;
  for (let size = Math.ceil(all.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < steps.length; ) {
      const rest = [...steps.slice(0, from), ...steps.slice(from + size)];
      if (await fails({ steps: rest })) steps = rest;
      else from += size;
    }
  }
  const withoutFaults: string[] = [];
  for (const fault of faultKinds)
    if (await fails({ steps, withoutFaults: [...withoutFaults, fault] })) withoutFaults.push(fault);
  return { steps, withoutFaults };
}

/** Without ids, times and counts. */
export function kindOf(breach: string): string {
  return breach.replace(/\b[0-9a-f]{8}\b|\d+/g, '#').split('\n')[0] ?? '';
}
