import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rememberedDigests } from '../../../src/inbox/memory/remembered-digests.ts';

function digestOf(number: number): string {
  return createHash('sha256').update(String(number)).digest('hex');
}

/** Digests that begin alike: all of them belong into the same few slots. */
function crowdedDigest(number: number): string {
  return `0000000${number % 2}${digestOf(number).slice(8)}`;
}

type Step = readonly ['add', number] | readonly ['has', number] | readonly ['forget', number];

const steps = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('add' as const), fc.nat(60)),
    fc.tuple(fc.constant('has' as const), fc.nat(60)),
    fc.tuple(fc.constant('forget' as const), fc.nat(10)),
  ),
  { maxLength: 300 },
);

it.each([
  ['digests', digestOf],
  ['digests that collide', crowdedDigest],
])('remembers %s as a list would, whatever is added, looked for and forgotten', (_, make) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), steps, (maxSize, taken: Step[]) => {
      const memory = rememberedDigests(maxSize);
      let list: { digest: string; time: number }[] = [];
      for (const [time, [step, number]] of taken.entries()) {
        const digest = make(number);
        const known = list.some((entry) => entry.digest === digest);
        if (step === 'forget') {
          memory.forget(time - number);
          const kept = list.findIndex((entry) => entry.time > time - number);
          list = kept === -1 ? [] : list.slice(kept);
        } else if (step === 'add') {
          memory.add(digest, time);
          if (!known) list = [...list, { digest, time }].slice(-maxSize);
        } else expect(memory.has(digest)).toBe(known);
        expect(memory.size).toBe(list.length);
      }
      for (let number = 0; number <= 60; number++) {
        const digest = make(number);
        expect(memory.has(digest)).toBe(list.some((entry) => entry.digest === digest));
      }
    }),
    { numRuns: 500 },
  );
});

it('has the newest of many, also when it had to grow for them', () => {
  const memory = rememberedDigests(5_000);
  for (let number = 0; number < 500; number++) memory.add(digestOf(number), number);
  memory.forget(99);
  for (let number = 500; number < 12_000; number++) memory.add(digestOf(number), number);
  expect(memory.size).toBe(5_000);
  const known = Array.from({ length: 12_000 }, (_, number) => memory.has(digestOf(number)));
  expect(known.indexOf(true)).toBe(7_000);
  expect(known.lastIndexOf(false)).toBe(6_999);
});

it.each(['', 'x'.repeat(64), 'ab', 'a'.repeat(65)])(
  'takes nothing for a digest that is none: %j',
  (digest) => {
    const memory = rememberedDigests(10);
    expect(() => memory.has(digest)).toThrow(TypeError);
    expect(() => memory.add(digest, 0)).toThrow(TypeError);
    expect(memory.size).toBe(0);
  },
);
