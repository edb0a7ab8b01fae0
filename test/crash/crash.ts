import { parseArgs } from 'node:util';
import { sizeFlags, sizeOf } from '../support/search-size.ts';
import { type CrashEngineName, crashEngines } from './crash-engine.ts';
import { type CrashFigures, runCrash } from './run-crash.ts';
import { runStoreCrash, type StoreCrashFigures, storeEngines } from './run-store-crash.ts';

/**
 * `npm run prove -- crash [--rounds 300 --engine sqlite | --minutes 10]`: hundreds of rounds, with engines of our own that are
 * killed too. In a time, ten rounds of one engine after the other, beginning at another one in each run.
 */

const { values } = parseArgs({
  options: {
    ...sizeFlags,
    events: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: [...crashEngines, ...storeEngines] },
    'poison-every': { type: 'string', default: '20' },
    'restart-every': { type: 'string', default: '20' },
  },
});
const size = sizeOf(values, { rounds: 200 });
const rounds = size.ms === undefined ? size.rounds : 10;
/** At least once in the rounds of a turn. */
const restartEvery = Math.min(Number(values['restart-every']), rounds);
const first = size.ms === undefined ? 0 : size.seed % values.engine.length;

const machine = { redis: { host: '', port: 0 }, postgresUrl: '' };
let hasFailed = false;
const turns = size.ms === undefined ? values.engine.length : Number.POSITIVE_INFINITY;
for (let turn = 0; turn < turns && !(size.ms !== undefined && size.isOver(turn)); turn++)
  await crash(values.engine[(first + turn) % values.engine.length] ?? '');
if (hasFailed) process.exitCode = 1;
// Connections of the parent to what is gone.
process.exit();

async function crash(engine: string): Promise<void> {
  const storeEngine = storeEngines.find((name) => name === engine);
  if (storeEngine !== undefined) {
    const found = await runStoreCrash({ engine: storeEngine, rounds, restartEvery });
    return note(found, isBadStore(found));
  }
  const found = await runCrash({
    engine: nameOf(engine),
    rounds,
    events: Number(values.events),
    // A queue tries it beside others, which it takes with it.
    poisonEvery: engine.startsWith('queue-') ? 1 : Number(values['poison-every']),
    restartEvery,
    machine,
  });
  note(found, isBad(found));
}

function note(found: object, isFailed: boolean): void {
  console.table([found]);
  hasFailed ||= isFailed;
}

function isBad({ lost, doubled, othersDead, poisonous, poisonousDead, ...found }: CrashFigures): boolean {
  return (
    lost + doubled + othersDead + found.falselyFound + found.actedOnElsewhere > 0 ||
    poisonousDead !== poisonous ||
    found.contradictingFound !== found.contradicting
  );
}

function isBadStore({ lost, wrongBalances, sumOff, ...found }: StoreCrashFigures): boolean {
  return lost + wrongBalances + Math.abs(sumOff) + found.effectsTwice + found.effectsLost > 0;
}

function nameOf(engine: string): CrashEngineName {
  const name = crashEngines.find((one) => one === engine);
  if (name !== undefined) return name;
  throw new Error(`There is no engine ${engine}.`);
}
