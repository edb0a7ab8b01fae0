import { globSync } from 'node:fs';
import { startTestServers } from '../support/test-servers.ts';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

const timeLimit = 30_000;

// The demo is an npm script of its own.
const examples = globSync(['examples/*.ts', 'examples/frameworks/*.ts'], { cwd: root })
  .filter((file) => file !== 'examples/demo.ts')
  .sort();

const tally = startTally();
// Never the database that somebody's DATABASE_URL happens to name.
const { postgres, stop } = await startTestServers();
const DATABASE_URL = 'url' in postgres ? postgres.url : undefined;
if ('missing' in postgres) {
  const missing = `there is no ${postgres.missing}`;
  if (process.env.CI === 'true' || process.env.CI === '1') {
    await tally.check('a PostgreSQL for the examples', () => Promise.reject(new Error(missing)));
  } else console.log(`Skipping the examples that need PostgreSQL: ${missing}.`);
}
const env = { ...process.env, DATABASE_URL };
for (const file of examples) {
  await tally.check(file, () => run(process.execPath, [file], { cwd: root, timeout: timeLimit, env }));
}
await stop();
tally.finish();
