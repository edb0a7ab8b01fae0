import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { sizeOf } from '../support/search-size.ts';
import { defects } from './defects.ts';
import { failedSeeds } from './failed-seeds.ts';
import { networkFaults, sqliteFaults, storeFaults } from './faults.ts';
import { playAll, startPlayer } from './pool.ts';
import type { Played } from './worker.ts';

/**
 * `npm run chaos [-- --scenarios 1000 --seed 7]`; `--minutes 5` plays new ones until the time is over. `--only 413` plays
 * one of them again, `--trace` prints all that happens in it; `--failed` plays the seeds, too, that failed once; `--prove`
 * plants defects, or those that are named, and looks how soon each is found. docs/details/development.md explains it.
 */

const { values, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    scenarios: { type: 'string', default: '1000' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now()) },
    only: { type: 'string' },
    failed: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    prove: { type: 'boolean', default: false },
    threads: { type: 'string', default: String(availableParallelism()) },
  },
});
const { seed } = values;
const threads = Number(values.threads);
const size = sizeOf({ rounds: values.scenarios, minutes: values.minutes }, { rounds: 1_000 });
/** From here on a run has to meet everything in {@link rareFigures}. */
const longRun = 10_000;
/** A planted defect has to be found within these. */
const mostScenarios = 2_000;

/** A world that has lost the way to one of these finds nothing there. */
const rareFigures = [
  ...Object.keys(storeFaults).map((name) => `store ${name}`),
  ...Object.keys(networkFaults).map((name) => `network ${name}`),
  ...Object.keys(sqliteFaults).map((name) => `sqlite ${name}`),
  ...[
    'receive duplicate',
    'receive unverified',
    'quarantine stored',
    'handle unrecognized',
    'orders unknown',
  ],
  'the clock went back inside a transaction',
  'a process stalled for longer than its lease',
  'a process slept when it had taken a lease',
  'a process died while it sent an order',
  'a delivery was left to the version that wrote it',
  'a drain was cut off while a handler ran',
  'two consumers held one message',
  'a delivery was handled again for a reason',
  'a dead letter was replayed',
  'a contradiction was found',
  'an event was not about what was ordered',
  'an order was replaced',
  'an order was refused for its keys and sent again',
  'an order was handed over to a person',
  'an event came while a person looked at another one',
  'a name became known between two generations',
  'a delivery was signed with replaced keys',
  'nobody knew whether a mail was sent',
];

if (values.prove) await prove(named);
else if (values.only !== undefined) await playOne(Number(values.only));
else await playMany();

async function playOne(number: number): Promise<void> {
  const player = startPlayer();
  const { breaches, trace } = await player.play({ seed, number, withTrace: true });
  await player.end();
  // With --trace the whole trace and nothing else, so that two runs can be compared byte by byte.
  console.log(values.trace ? trace : breaches.map((breach) => `- ${breach}`).join('\n'));
  if (breaches.length > 0) process.exitCode = 1;
}

async function playMany(): Promise<void> {
  console.log(`seed ${seed}`);
  const begun = performance.now();
  const figures = new Map<string, number>();
  const failed: Played[] = [];
  let scenarios = 0;
  const asks = function* () {
    for (const [earlier, numbers] of values.failed ? Object.entries(failedSeeds) : [])
      for (const number of numbers) yield { seed: earlier, number };
    for (let number = 0; !size.isOver(number); number++) yield { seed, number };
  };
  await playAll(asks(), {
    threads,
    onPlayed(played) {
      scenarios++;
      for (const [name, count] of played.figures) figures.set(name, (figures.get(name) ?? 0) + count);
      if (played.breaches.length === 0) return;
      failed.push(played);
      console.log(`npm run chaos -- --seed ${played.seed} --only ${played.number} --trace`);
      console.log(played.breaches.map((breach) => `- ${breach}`).join('\n'));
    },
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  const sorted = [...figures].sort(([one], [other]) => (one < other ? -1 : 1));
  console.log({ scenarios, failed: failed.length, seconds, ...Object.fromEntries(sorted) });
  const never = rareFigures.filter((name) => !figures.has(name));
  if (never.length > 0) console.log(`Never met: ${never.join('; ')}`);
  if (failed.length > 0 || (never.length > 0 && scenarios >= longRun)) process.exitCode = 1;
}

/**
 * One line for each planted defect: after how many scenarios it was found. Where the time is over, the others are left
 * out, and are others in each run.
 */
async function prove(names: readonly string[]): Promise<void> {
  const begun = performance.now();
  const left = names.length === 0 ? defects.map(({ name }) => name) : [...names];
  const { length: all } = left;
  if (size.ms !== undefined) left.push(...left.splice(0, Date.now() % all));
  let [found, missed, played] = [0, 0, 0];
  const work = async () => {
    while (left.length > 0 && !isTimeOver()) {
      const name = left.shift() ?? '';
      const { scenarios, breach } = await search(name);
      played += scenarios;
      if (breach === undefined && isTimeOver()) return void left.push(name);
      console.log(`${name}: ${breach === undefined ? 'not found in' : 'found after'} ${scenarios}`);
      if (breach === undefined) missed++;
      else found++;
      if (values.trace) console.log(`  ${breach}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, all) }, work));
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const rest = left.length === 0 ? '' : `, ${left.length} not looked for (${left.join('; ')})`;
  console.log(
    `${found} of ${all} defects found, ${missed} not found${rest}: seed ${seed}, ${played} scenarios, ${seconds} s`,
  );
  if (missed > 0) process.exitCode = 1;
}

/** Plays scenarios until a promise breaks that holds without the defect: what fails without it too is no proof. */
async function search(name: string): Promise<{ scenarios: number; breach?: string }> {
  const [player, healthy] = [startPlayer(name), startPlayer()];
  try {
    for (let number = 0; number < mostScenarios && !isTimeOver(); number++) {
      const [breach] = (await player.play({ seed, number })).breaches;
      if (breach === undefined || (await healthy.play({ seed, number })).breaches.length > 0) continue;
      return { scenarios: number + 1, breach };
    }
    return { scenarios: mostScenarios };
  } finally {
    await Promise.all([player.end(), healthy.end()]);
  }
}

function isTimeOver(): boolean {
  return size.ms !== undefined && size.isOver(0);
}
