import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rememberedDigests } from '../../../src/inbox/remembered-digests.ts';

function digestOf(number: number): string {
  return createHash('sha256').update(String(number)).digest('hex');
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

it('the memory of digests is that of a list, whatever is added, looked for and forgotten', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), steps, (maxSize, sequence: Step[]) => {
      const memory = rememberedDigests(maxSize);
      let list: { digest: string; time: number }[] = [];
      for (const [time, [step, number]] of sequence.entries()) {
        const digest = digestOf(number);
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
        const digest = digestOf(number);
        expect(memory.has(digest)).toBe(list.some((entry) => entry.digest === digest));
      }
    }),
    { numRuns: 500 },
  );
});

it('the memory of digests has the newest of many, also after some were forgotten in between', () => {
  const memory = rememberedDigests(5_000);
  for (let number = 0; number < 500; number++) memory.add(digestOf(number), number);
  memory.forget(99);
  for (let number = 500; number < 12_000; number++) memory.add(digestOf(number), number);
  expect(memory.size).toBe(5_000);
  const known = Array.from({ length: 12_000 }, (_, number) => memory.has(digestOf(number)));
  expect(known.indexOf(true)).toBe(7_000);
  expect(known.lastIndexOf(false)).toBe(6_999);
});

it('the memory of digests forgets the oldest of 100,000 as fast as that of 100', () => {
  const cost = (maxSize: number) => {
    const memory = rememberedDigests(maxSize);
    let next = 0;
    // Beyond maxSize each takes the place of the oldest.
    const add = (count: number) => {
      for (const end = next + count; next < end; next++) memory.add(`digest ${next}`, next);
    };
    add(maxSize + 20_000);
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round++) {
      const begun = performance.now();
      add(200);
      least = Math.min(least, performance.now() - begun);
    }
    return least;
  };
  expect(cost(100_000) / cost(100)).toBeLessThan(20);
});
