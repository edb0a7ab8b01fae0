import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './entries.ts';
import { run } from './run.ts';
import { startTally } from './tally.ts';

/** Follows docs/recipes.md on a copy of the tree: applies each block, compiles everything, and runs the recipes' tests. */

interface Block {
  readonly recipe: string;
  readonly file: string;
  readonly kind: 'diff' | 'new';
  readonly text: string;
}

const tally = startTally();
const copy = mkdtempSync(join(tmpdir(), 'recipes-'));
try {
  copyTree();
  const blocks = readBlocks(readFileSync(join(root, 'docs/recipes.md'), 'utf8'));
  const recipes = [...new Set(blocks.map(({ recipe }) => recipe))];
  for (const recipe of recipes) {
    await tally.check(`${recipe}: each block fits`, () => {
      for (const block of blocks) if (block.recipe === recipe) apply(block);
    });
  }
  await tally.check('the tree with all of them compiles', () =>
    run('npx', ['tsc', '-p', '.', '--tsBuildInfoFile', 'types.tsbuildinfo'], { cwd: copy, timeout: 900_000 }),
  );
  await tally.check('contract and error page are written anew', () => {
    for (const script of ['contract', 'docs:errors']) run('npm', ['run', script], { cwd: copy });
  });
  await tally.check(
    'their tests pass, and those that walk over every event, operation, code and command',
    () => {
      const own = blocks.filter(({ file, kind }) => kind === 'new' && file.startsWith('test/'));
      if (own.length < recipes.length) throw new Error('A recipe has no test.');
      const walks = [
        'test/contract',
        'test/errors',
        'test/package/import-walk.test.ts',
        'test/cli/usage.test.ts',
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
}

/** The blocks of the page. The last path in the paragraph before a block is its file; without one it is that of the block before. */
function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let recipe = '';
  let file = '';
  const parts = page.matchAll(/^## (.+)$|`([\w/.-]+\.(?:ts|json))`|^```(diff|ts new)\n([\s\S]*?)^```$/gm);
  for (const [, heading, path, fence, text = ''] of parts) {
    if (heading !== undefined) recipe = heading;
    else if (path !== undefined) file = path;
    else blocks.push({ recipe, file, kind: fence === 'diff' ? 'diff' : 'new', text });
  }
  return blocks;
}

function apply({ file, kind, text }: Block): void {
  const path = join(copy, file);
  if (kind === 'new') {
    if (existsSync(path)) throw new Error(`${file} is there already.`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const lines = text.trimEnd().split('\n');
  const side = (sign: '-' | '+') =>
    lines
      .filter((line) => !line.startsWith(sign === '-' ? '+' : '-'))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const before = readFileSync(path, 'utf8');
  const places = before.split(side('-')).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places like this:\n${side('-')}`);
  // As a function, since "$" means something in a text.
  writeFileSync(
    path,
    before.replace(side('-'), () => side('+')),
  );
}
