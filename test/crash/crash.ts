import { parseArgs } from 'node:util';
import { type CrashEngineName, crashEngines } from './crash-engine.ts';
import { type BulkCrashFigures, runBulkCrash } from './run-bulk-crash.ts';
import { type CrashFigures, runCrash } from './run-crash.ts';
import { runStoreCrash, type StoreCrashFigures, storeEngines } from './run-store-crash.ts';

/** `npm run prove -- crash [--rounds 300 --engine sqlite]`: hundreds of rounds, with engines of our own that are killed too. */

/** Bulk sending over each store: `bulk-sqlite`. */
const bulkEngines = storeEngines.map((name) => name.replace('store-', 'bulk-'));

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    events: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: [...crashEngines, ...storeEngines, ...bulkEngines] },
    'poison-every': { type: 'string', default: '20' },
    'restart-every': { type: 'string', default: '20' },
  },
});

const machine = { redis: { host: '', port: 0 }, postgresUrl: '' };
const figures: CrashFigures[] = [];
const storeFigures: StoreCrashFigures[] = [];
const bulkFigures: BulkCrashFigures[] = [];
for (const engine of values.engine) {
  const storeEngine = storeEngines.find((name) => name === engine);
  if (storeEngine !== undefined) {
    const found = await runStoreCrash({
      engine: storeEngine,
      rounds: Number(values.rounds),
      restartEvery: Number(values['restart-every']),
    });
    storeFigures.push(found);
    console.table([found]);
    continue;
  }
  const bulkStore = storeEngines.find((name) => name.replace('store-', 'bulk-') === engine);
  if (bulkStore !== undefined) {
    const found = await runBulkCrash({ engine: bulkStore, rounds: Number(values.rounds) });
    bulkFigures.push(found);
    console.table([found]);
    continue;
  }
  const found = await runCrash({
    engine: nameOf(engine),
    rounds: Number(values.rounds),
    events: Number(values.events),
    // A queue tries it beside others, which it takes with it.
    poisonEvery: engine.startsWith('queue-') ? 1 : Number(values['poison-every']),
    // The client of RabbitMQ does not connect again.
    restartEvery: engine === 'queue-rabbitmq' ? 0 : Number(values['restart-every']),
    machine,
  });
  figures.push(found);
  console.table([found]);
}
const isBad = ({ lost, doubled, othersDead, poisonous, poisonousDead, ...found }: CrashFigures) =>
  lost + doubled + othersDead + found.falselyFound + found.actedOnElsewhere > 0 ||
  poisonousDead !== poisonous ||
  found.contradictingFound !== found.contradicting;
const isBadStore = ({ lost, wrongBalances, sumOff, effectsTwice, effectsLost }: StoreCrashFigures) =>
  lost + wrongBalances + Math.abs(sumOff) + effectsTwice + effectsLost > 0;
const isBadBulk = ({ twice, wrongStates }: BulkCrashFigures) => twice + wrongStates > 0;
if (figures.some(isBad) || storeFigures.some(isBadStore) || bulkFigures.some(isBadBulk)) process.exitCode = 1;
// Connections of the parent to what is gone.
process.exit();

function nameOf(engine: string): CrashEngineName {
  const name = crashEngines.find((one) => one === engine);
  if (name !== undefined) return name;
  throw new Error(`There is no engine ${engine}.`);
}
