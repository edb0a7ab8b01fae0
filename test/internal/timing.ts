/**
 * How many times longer an act takes on four times the text: 4 when it is linear, 16 when it is quadratic.
 *
 * Each time is the best of several, taken by turns, so that whatever else the machine does disturbs both alike; and
 * times under two milliseconds count as two, so that noise does not look like growth. (Quadratic work on 256 KiB
 * takes seconds.) A machine can be too busy for that all the same: what looks like growth is measured again.
 */
export function growth(makeText: (size: number) => string, act: (text: string) => unknown): number {
  const small = makeText(256 * 1024);
  const large = makeText(1024 * 1024);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && least >= wellBelowQuadratic; attempt++) {
    let [before, after] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < 4; turn++) {
      before = Math.min(
        before,
        timeOf(() => act(small)),
      );
      after = Math.min(
        after,
        timeOf(() => act(large)),
      );
    }
    least = Math.min(least, after / Math.max(2, before));
  }
  return least;
}

/** Well below quadratic, and far above what a busy machine makes of linear. */
export const wellBelowQuadratic = 9;

function timeOf(act: () => unknown): number {
  const start = performance.now();
  act();
  return performance.now() - start;
}
