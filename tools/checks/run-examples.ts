import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { frameworks } from '../../examples/shop/ground.ts';
import { startTestServers } from '../../test/support/test-servers.ts';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

/** The shops wait for leases of a killed process. */
const timeLimit = 120_000;

const examples = globSync(['examples/*.ts', 'examples/frameworks/*.ts'], { cwd: root }).sort();
/** Two replicas of the shop on a bad day, on each framework. */
const shops = frameworks.map((framework) => `examples/shop/bad-day.ts ${framework}`);

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
for (const file of [...examples, ...shops]) {
  await tally.check(file, () =>
    run(process.execPath, commandOf(file), { cwd: root, timeout: timeLimit, env }),
  );
}
await stop();
tally.finish();

/** A suite for node:test is a program like the others; one for vitest is not. */
function commandOf(file: string): string[] {
  if (!file.endsWith('-vitest.test.ts')) return file.split(' ');
  // With a root of its own, so that the configuration of our own tests does not count.
  return [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', 'examples', basename(file)];
}
