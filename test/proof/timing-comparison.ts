/** Measurements of two classes, in nanoseconds. */
export interface Samples {
  readonly first: readonly number[];
  readonly last: readonly number[];
}

export interface Comparison {
  /** Welch's t, the largest in size over the croppings. */
  readonly t: number;
  /** The share of the fastest measurements that gave it. */
  readonly cropped: number;
  /** Mean of `last` less that of `first`, in nanoseconds, and half its 95 % interval, over the fastest half. */
  readonly difference: number;
  readonly margin: number;
}

/**
 * As dudect does (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?", 2017): noise only makes a
 * measurement longer, so the slowest are cropped at several limits, the same for both classes, and the
 * strongest evidence counts.
 */
export function compare({ first, last }: Samples): Comparison {
  const sorted = Float64Array.from([...first, ...last]).sort();
  const limit = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.POSITIVE_INFINITY;
  const within = (share: number) => welch(first, last, limit(share));
  const tests = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1].map((cropped) => ({ cropped, ...within(cropped) }));
  const strongest = tests.reduce((left, right) => (Math.abs(right.t) > Math.abs(left.t) ? right : left));
  const { difference, error } = within(0.5);
  return { t: strongest.t, cropped: strongest.cropped, difference, margin: 1.96 * error };
}

function welch(
  first: readonly number[],
  last: readonly number[],
  most: number,
): { t: number; difference: number; error: number } {
  const [ofFirst, ofLast] = [moments(first, most), moments(last, most)];
  const difference = ofLast.mean - ofFirst.mean;
  const error = Math.sqrt(ofFirst.variance / ofFirst.count + ofLast.variance / ofLast.count);
  return { t: error > 0 ? difference / error : 0, difference, error };
}

function moments(values: readonly number[], most: number): { count: number; mean: number; variance: number } {
  let [count, mean, squares] = [0, 0, 0];
  for (const value of values) {
    if (value > most) continue;
    count++;
    const delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  return { count, mean, variance: squares / Math.max(1, count - 1) };
}
