import { randomBytes } from 'node:crypto';
import type { Attack, AttackCase } from '../attack-case.ts';
import { type Finding, skipped } from '../attack-result.ts';
import { withSignature } from '../probes.ts';
import { type Comparison, compare, type Samples } from '../welch.ts';
import { flip } from './signatures.ts';

/** Above this, dudect says that a leak is likely; by chance, seven in a million. */
const threshold = 4.5;
/** A disturbance passes, a leak stays: it has to show in every attempt. */
const attempts = 3;
/** Requests of each attempt. */
const most = 400;
/** Fewer say nothing. */
const least = 100;

/** Whether the time of the answer tells how many letters of a forged signature are right. */
export const timingCase: AttackCase = {
  id: 'timing',
  what: 'whether a forged signature that is nearly right is refused later than one that is wrong at once',
  expected: 'no difference that can be measured',
  async run(attack) {
    for (let attempt = 1; ; attempt++) {
      const samples = await measure(attack);
      if (samples.first.length + samples.last.length < least) {
        return skipped('answers take too long to measure enough of them');
      }
      const comparison = compare(samples);
      if (Math.abs(comparison.t) < threshold) return quiet(comparison);
      if (attempt === attempts) return leak(comparison);
    }
  },
};

/** The two classes in random turns, so that whatever else happens meets both. */
async function measure({ probes, post, timeoutMs }: Attack): Promise<Samples> {
  const text = probes.unsigned();
  const right = probes.sign(text);
  const bodies = {
    first: withSignature(text, flip(right, 0)),
    last: withSignature(text, flip(right, right.length - 4)),
  };
  const samples: { first: number[]; last: number[] } = { first: [], last: [] };
  const turns = randomBytes(most);
  const begun = performance.now();
  for (const turn of turns) {
    if (performance.now() - begun > timeoutMs) break;
    const kind = turn < 128 ? 'first' : 'last';
    const start = performance.now();
    const answer = await post({ body: bodies[kind] });
    if (answer.kind === 'answered') samples[kind].push((performance.now() - start) * 1e6);
  }
  return samples;
}

function quiet({ margin }: Comparison): Finding {
  // A comparison that ends at the first wrong letter saves nanoseconds: nothing from outside shows that.
  return { verdict: 'ok', answered: `none; ${micro(margin)} µs or more would have shown` };
}

function leak({ difference, t }: Comparison): Finding {
  return {
    verdict: 'broken',
    answered: `${micro(Math.abs(difference))} µs, t = ${t.toFixed(1)}`,
    advice:
      'Compare digests in constant time (timingSafeEqual, hash_equals, hmac.compare_digest): the time of the answer tells how far a forged signature is right.',
  };
}

function micro(nanoseconds: number): string {
  return (nanoseconds / 1000).toPrecision(2);
}
