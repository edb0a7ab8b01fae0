import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { sizeOf } from '../support/search-size.ts';
import { defects } from './defects.ts';
import { failedSeeds } from './failed-seeds.ts';
import type { Shrunk } from './plan.ts';
import { type Player, playAll, startPlayer } from './pool.ts';
import { shrink } from './shrink.ts';
import { rareStates } from './sometimes.ts';
import type { Played } from './worker.ts';

/**
 * `npm run chaos [-- --scenarios 1000 --seed 7]`; `--minutes 5` plays new ones until the time is over. `--only 413` plays one of them again, `--trace` prints all that
 * happens in it, `--steps` and `--without` leave out parts of it; `--failed` plays the seeds, too, that failed once;
 * `--prove` plants defects, or those that are named, and looks how soon each is found. docs/details/development.md explains it.
 */

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    scenarios: { type: 'string', default: '1000' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now()) },
    only: { type: 'string' },
    steps: { type: 'string' },
    without: { type: 'string' },
    failed: { type: 'boolean', default: false },
    defect: { type: 'string' },
    trace: { type: 'boolean', default: false },
    prove: { type: 'boolean', default: false },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const { seed } = values;
const threads = wholeNumber('threads', values.threads);
const size = sizeOf({ rounds: values.scenarios, minutes: values.minutes }, { rounds: 1_000 });
/** From here on a run has to reach every rare state. */
const longRun = 10_000;
/** A planted defect has to be found within these. */
const mostScenarios = 2_000;
const mostShrunk = 3;

if (values.prove) await prove(named);
else if (values.only !== undefined) await playOne(wholeNumber('only', values.only));
else await playMany();

async function playOne(number: number): Promise<void> {
  const shrunk: Shrunk = {
    steps: values.steps?.split(',').map(Number),
    withoutFaults: values.without?.split(','),
  };
  const player = startPlayer(values.defect);
  const { breaches, trace } = await player.play({ seed, number, shrunk, withTrace: true });
  await player.end();
  // With --trace the whole trace and nothing else, so that two runs can be compared byte by byte.
  console.log(values.trace ? trace : breaches.map((breach) => `- ${breach}`).join('\n'));
  if (breaches.length > 0) process.exitCode = 1;
}

async function playMany(): Promise<void> {
  console.log(`seed ${seed}`);
  const begun = performance.now();
  const figures = new Map<string, number>();
  const reached = new Map<string, number>(rareStates.map((state) => [state, 0]));
  const failed: Played[] = [];
  const earlier = values.failed ? failedSeeds.map(([of, number]) => ({ seed: of, number })) : [];
  let scenarios = 0;
  const asks = function* () {
    yield* earlier;
    for (let number = 0; !size.isOver(number); number++) yield { seed, number };
  };
  await playAll(asks(), {
    threads,
    onPlayed(played) {
      scenarios++;
      addAll(figures, played.figures);
      addAll(reached, played.reached);
      if (played.breaches.length === 0) return;
      failed.push(played);
      console.log(
        `Scenario ${played.seed}/${played.number}:\n${played.breaches.map((breach) => `- ${breach}`).join('\n')}`,
      );
    },
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  const never = [...reached].filter(([, count]) => count === 0).map(([state]) => state);
  console.log({ scenarios, failed: failed.length, seconds, ...sorted(figures) });
  console.log(sorted(reached));
  for (const { seed, number, breaches, steps } of failed.slice(0, mostShrunk)) {
    const player = startPlayer();
    const shrunk = await shrink(player, { seed, number, steps, breach: breaches[0] ?? '' });
    await player.end();
    console.log(
      `Play ${number} again: npm run chaos -- --seed ${seed} --only ${number} --steps ${shrunk.steps?.join()} --without ${shrunk.withoutFaults?.join()}`,
    );
  }
  if (failed.length > 0)
    console.log(`Failed: ${failed.map((played) => `${played.seed}/${played.number}`).join(', ')}`);
  if (never.length > 0) console.log(`Never reached: ${never.join('; ')}`);
  if (failed.length > 0 || (never.length > 0 && scenarios >= longRun)) process.exitCode = 1;
}

/**
 * One line for each planted defect: after how many scenarios it was found. Where the time is over, the others are left
 * out, and are others in each run.
 */
async function prove(names: readonly string[]): Promise<void> {
  const begun = performance.now();
  const all = names.length === 0 ? defects.map(({ name }) => name) : [...names];
  const from = size.ms === undefined ? 0 : Date.now() % all.length;
  const left = [...all.slice(from), ...all.slice(0, from)];
  let [found, missed, played] = [0, 0, 0];
  const work = async () => {
    const healthy = startPlayer();
    while (left.length > 0 && !isTimeOver()) {
      const name = left.shift() ?? '';
      const { scenarios, breach } = await search(name, healthy);
      played += scenarios;
      if (breach === undefined && isTimeOver()) {
        left.push(name);
        return await healthy.end();
      }
      console.log(
        `${name}: ${breach === undefined ? `not found in ${scenarios}` : `found after ${scenarios}`}`,
      );
      if (breach === undefined) missed++;
      else found++;
      if (breach !== undefined && values.trace) console.log(`  ${breach}`);
    }
    await healthy.end();
  };
  await Promise.all(Array.from({ length: Math.min(threads, all.length) }, work));
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const rest = left.length === 0 ? '' : `, ${left.length} not looked for (${left.join('; ')})`;
  console.log(
    `${found} of ${all.length} defects found, ${missed} not found${rest}: seed ${seed}, ${played} scenarios, ${seconds} s`,
  );
  if (missed > 0) process.exitCode = 1;
}

/** Plays scenarios until a promise breaks that holds without the defect: what fails without it too is no proof. */
async function search(name: string, healthy: Player): Promise<{ scenarios: number; breach?: string }> {
  const player = startPlayer(name);
  try {
    for (let number = 0; number < mostScenarios && !isTimeOver(); number++) {
      const [breach] = (await player.play({ seed, number })).breaches;
      if (breach === undefined || (await healthy.play({ seed, number })).breaches.length > 0) continue;
      return { scenarios: number + 1, breach };
    }
    return { scenarios: mostScenarios };
  } finally {
    await player.end();
  }
}

function isTimeOver(): boolean {
  return size.ms !== undefined && size.isOver(0);
}

function addAll(sums: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number.`);
}
