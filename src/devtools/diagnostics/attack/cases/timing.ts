import { randomBytes } from 'node:crypto';
import { type CheckResult, skipped } from '../../check-result.ts';
import type { Attack, AttackCase } from '../attack-case.ts';
import { withSignature } from '../probes.ts';
import { withOtherCharacter } from './signatures.ts';

/** The limit of dudect for a likely leak; chance exceeds it in seven of a million runs. */
const threshold = 4.5;
/** Noise varies; a real leak shows in every attempt. */
const attempts = 3;
/** The limit of one attempt. */
const maxRequests = 400;
/** Fewer measurements prove nothing. */
const minSamples = 100;
/** An attempt has the time of one answer, and so many times that for the fewest measurements. */
const longestAttempt = 4;

/** Whether the response time reveals how many characters of a forged signature are right. */
export const timingCase: AttackCase = {
  what: 'whether a forged signature that is nearly right is refused later than one that is wrong at once',
  expected: 'no difference that can be measured',
  slow: 'alone',
  async run(attack) {
    for (let attempt = 1; ; attempt++) {
      const samples = await measure(attack);
      if (samples.first.length + samples.last.length < minSamples) {
        return skipped('answers take too long to measure enough of them');
      }
      const comparison = compare(samples);
      if (Math.abs(comparison.t) < threshold) return noLeak(comparison);
      if (attempt === attempts) return leaked(comparison);
    }
  },
};

/** Measures both classes in random order, so that noise affects both. */
async function measure({ probes, post, timeoutMs }: Attack): Promise<Samples> {
  const samples: { first: number[]; last: number[] } = { first: [], last: [] };
  const turns = randomBytes(maxRequests);
  const begun = performance.now();
  for (const turn of turns) {
    const hasEnough = samples.first.length + samples.last.length >= minSamples;
    if (performance.now() - begun > timeoutMs * (hasEnough ? 1 : longestAttempt)) break;
    const kind = turn < 128 ? 'first' : 'last';
    // Each event is new: a receiver that remembers forgeries would answer a repetition without a comparison.
    const text = probes.unsigned();
    const right = probes.sign(text);
    const at = kind === 'first' ? 0 : right.length - 4;
    const body = withSignature(text, withOtherCharacter(right, at));
    const start = performance.now();
    // Not in the ledger: hundreds of orders, of which each would be looked up.
    const answer = await post({ body, carries: [] });
    if (answer.kind === 'answered') samples[kind].push((performance.now() - start) * 1e6);
  }
  return samples;
}

function noLeak({ margin }: Comparison): CheckResult {
  // A comparison that stops at the first wrong character saves nanoseconds, which a remote caller cannot measure.
  return { verdict: 'ok', answered: `none; ${micro(margin)} µs or more would have shown` };
}

function leaked({ difference, t }: Comparison): CheckResult {
  return {
    verdict: 'broken',
    answered: `${micro(Math.abs(difference))} µs, t = ${t.toFixed(1)}`,
    fault: 'takes longer to refuse a signature, the more of it is right',
    advice:
      'Compare digests in constant time (timingSafeEqual, hash_equals, hmac.compare_digest): the time of the answer tells how far a forged signature is right.',
  };
}

function micro(nanoseconds: number): string {
  return (nanoseconds / 1000).toPrecision(2);
}

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
