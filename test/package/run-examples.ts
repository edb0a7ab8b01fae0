import { globSync } from 'node:fs';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

const timeLimit = 30_000;

// The demo is an npm script of its own.
const examples = globSync(['examples/*.ts', 'examples/frameworks/*.ts'], { cwd: root })
  .filter((file) => file !== 'examples/demo.ts')
  .sort();

const tally = startTally();
for (const file of examples) {
  await tally.check(file, () => run(process.execPath, [file], { cwd: root, timeout: timeLimit }));
}
tally.finish();
