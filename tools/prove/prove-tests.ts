import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { root } from '../checks/entries.ts';

/*
 * `npm run prove -- tests [--minutes 10 --seed s] [file …]`: the files `*.proof.test.ts`, a few at a time in an order that
 * the seed draws, until the time is over; without `--minutes` all of them, and everyday ones that repeat more in full.
 */

/** Files in a batch: all workers of vitest have something to do. */
const batchSize = 8;

const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, seed: { type: 'string', default: String(Date.now()) } },
});
const isTimed = values.minutes !== undefined;
const endsAt = performance.now() + Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000;

const vitest = await createVitest({
  root,
  run: true,
  watch: false,
  mode: isTimed ? 'prove-shortly' : 'prove',
});
await vitest.standalone();
const found = await vitest.globTestSpecifications(filters);
const queue = shuffled(found, values.seed);
let isOk = found.length > 0;
let ran = 0;
while (queue.length > 0 && performance.now() < endsAt) {
  const batch = queue.splice(0, batchSize);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(batch);
  ran += batch.length;
  isOk &&= unhandledErrors.length === 0 && testModules.every((module) => module.ok());
}
await vitest.close();
console.log(`proof files: ${ran} of ${found.length} in the time given, seed ${values.seed}`);
process.exit(isOk ? 0 : 1);

/** In an order that a seed draws. */
function shuffled<T>(list: readonly T[], seed: string): T[] {
  let state = [...seed].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7);
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return list
    .map((item) => ({ item, place: next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
