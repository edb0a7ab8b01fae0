import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import { runCommands } from './scratch-project.ts';
import { startTally } from './tally.ts';

/*
 * The last commit, cloned and installed from git: npm builds it where nothing was built before. Sees nothing that is
 * not committed.
 */

const tally = startTally();
const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
const clone = join(folder, 'clone');
const project = join(folder, 'project');
const installed = join(project, 'node_modules', 'partner-exchange-sdk');
try {
  await tally.check('the last commit can be installed from git', () => {
    run('git', ['clone', '--quiet', root, clone], { cwd: folder });
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "name": "scratch", "private": true, "type": "module" }');
    // npm 12 installs from git only when it is told to.
    const options = ['--no-audit', '--no-fund', '--allow-git=all'];
    run('npm', ['install', ...options, `git+file://${clone}`], { cwd: project, timeout: 600_000 });
  });
  await tally.check('every entry is there, with its types', () => {
    const files = readEntries().flatMap(({ built }) => [built, built.replace(/\.js$/, '.d.ts')]);
    const missing = files.filter((file) => !existsSync(join(installed, file)));
    if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
    const imports = readEntries().map(({ specifier }) => `await import('${specifier}');`);
    run(process.execPath, ['--input-type=module', '--eval', imports.join('\n')], { cwd: project });
  });
  await tally.check('every command runs', () => runCommands({ folder: project, installed }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();
