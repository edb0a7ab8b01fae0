import { parseArgs } from 'node:util';
import type { CrashEngineName } from './crash-engine.ts';
import { type CrashFigures, runCrash } from './run-crash.ts';

/** `npm run crash [-- --rounds 300 --engine sqlite]`: hundreds of rounds, with engines of our own that are killed too. */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    events: { type: 'string', default: '10' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'bullmq', 'pg-boss'] },
    'poison-every': { type: 'string', default: '20' },
    'restart-every': { type: 'string', default: '20' },
  },
});

const machine = { redis: { host: '', port: 0 }, postgresUrl: '' };
const figures: CrashFigures[] = [];
for (const engine of values.engine) {
  const found = await runCrash({
    engine: nameOf(engine),
    rounds: Number(values.rounds),
    events: Number(values.events),
    poisonEvery: Number(values['poison-every']),
    restartEvery: Number(values['restart-every']),
    machine,
  });
  figures.push(found);
  console.table([found]);
}
const isBad = ({ lost, doubled, othersDead, poisonous, poisonousDead }: CrashFigures) =>
  lost + doubled + othersDead > 0 || poisonousDead !== poisonous;
if (figures.some(isBad)) process.exitCode = 1;
// Connections of the parent to what is gone.
process.exit();

function nameOf(engine: string): CrashEngineName {
  if (engine === 'sqlite' || engine === 'bullmq' || engine === 'pg-boss') return engine;
  throw new Error(`There is no engine ${engine}.`);
}
