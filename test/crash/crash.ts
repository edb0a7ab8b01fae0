import { parseArgs } from 'node:util';
import { sizeFlags, sizeOf } from '../support/search-size.ts';
import { inboxEngines, storeEngines } from './crash-engine.ts';
import { type CrashFigures, runCrash } from './run-crash.ts';
import { runStoreCrash, type StoreCrashFigures } from './run-store-crash.ts';

/**
 * `npm run prove -- crash [--rounds 300 --engine inbox-sqlite | --minutes 10]`: hundreds of rounds, in which the engines are killed
 * too. In a time, ten rounds of one engine after the other, beginning at another one in each run.
 */

const { values } = parseArgs({
  options: {
    ...sizeFlags,
    events: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: [...inboxEngines, ...storeEngines] },
    'poison-every': { type: 'string', default: '20' },
    'restart-every': { type: 'string', default: '20' },
  },
});
const size = sizeOf(values, { rounds: 200 });
const rounds = size.ms === undefined ? size.rounds : 10;
/** At least once in the rounds of a turn. */
const restartEvery = Math.min(Number(values['restart-every']), rounds);
const first = size.ms === undefined ? 0 : size.seed % values.engine.length;

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
  const inboxEngine = inboxEngines.find((name) => name === engine);
  if (inboxEngine === undefined) throw new Error(`There is no engine ${engine}.`);
  const [events, poisonEvery] = [Number(values.events), Number(values['poison-every'])];
  const found = await runCrash({ engine: inboxEngine, rounds, events, poisonEvery, restartEvery });
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
