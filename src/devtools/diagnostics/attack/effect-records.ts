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
