/** Milliseconds that an act takes: the best of several runs, which is the one that was disturbed least. */
export function bestOf(runs: number, act: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    act();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/**
 * How many times longer an act takes on four times the text: 4 when it is linear, 16 when it is quadratic. Times
 * under a millisecond count as one, so that noise does not look like growth.
 */
export function growth(makeText: (size: number) => string, act: (text: string) => unknown): number {
  const small = makeText(256 * 1024);
  const large = makeText(1024 * 1024);
  const before = Math.max(
    1,
    bestOf(5, () => act(small)),
  );
  return bestOf(5, () => act(large)) / before;
}

/** Well below quadratic, and far above what a busy machine makes of linear. */
export const wellBelowQuadratic = 9;
