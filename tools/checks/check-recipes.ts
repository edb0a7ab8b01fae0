import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyBlocks, readRecipes } from '../documents/recipes.ts';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

/** Follows docs/recipes.md on a copy of the tree: applies each block, compiles everything, and runs the recipes' tests. */

const tally = startTally();
const copy = mkdtempSync(join(tmpdir(), 'recipes-'));
const blocks = readRecipes();
try {
  copyTree();
  await tally.check('the tree with all of them compiles', () =>
    run(
      'node',
      ['node_modules/typescript-7/bin/tsc', '-p', '.', '--incremental', 'false', '--tsBuildInfoFile', 'null'],
      {
        cwd: copy,
        timeout: 900_000,
      },
    ),
  );
  await tally.check('contract and error page are written anew', () => {
    for (const script of ['contract', 'docs:errors']) run('npm', ['run', script], { cwd: copy });
  });
  await tally.check(
    'their tests pass, and those that walk over every event, operation, code and command',
    () => {
      const own = blocks.filter(({ file, kind }) => kind === 'new' && file.startsWith('test/'));
      if (own.length < new Set(blocks.map(({ recipe }) => recipe)).size)
        throw new Error('A recipe has no test.');
      const walks = [
        'test/contract',
        'test/errors',
        'test/package/import-walk.test.ts',
        'test/devtools/cli/usage.test.ts',
      ];
      const files = [...own.map(({ file }) => file), ...walks];
      run('npx', ['vitest', 'run', '--reporter=dot', '--test-timeout=120000', ...files], {
        cwd: copy,
        timeout: 900_000,
        env: { ...process.env, NO_COLOR: '1' },
      });
    },
  );
} finally {
  rmSync(copy, { recursive: true, force: true });
}
tally.finish();

function copyTree(): void {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  for (const file of tracked.filter((each) => existsSync(join(root, each)))) {
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, text] of applyBlocks(blocks)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), text);
  }
}
