import { existsSync, globSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import { runCommands } from './scratch-project.ts';
import { startTally } from './tally.ts';

/*
 * What comes of the last commit where nothing was built before: packed in a clean clone, and installed from git.
 * Needs no build, and sees nothing that is not committed.
 */

const patience = 600_000;
const tally = startTally();
const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
const clone = join(folder, 'clone');
try {
  run('git', ['clone', '--quiet', root, clone], { cwd: folder });
  // Before the clone gets anything beside its commit.
  await tally.check('installed from git, every entry and command is there, with its types', () => {
    const project = makeProject('from-git');
    // npm 12 installs from git only when it is told to.
    install(project, ['--allow-git=all', `git+file://${clone}`]);
    expectEntries(project);
  });
  await tally.check('packed in a clean clone, every entry and command is there, with its types', () => {
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    run('npm', ['pack', '--pack-destination', folder], { cwd: clone, timeout: patience });
    const [tarball] = globSync('*.tgz', { cwd: folder });
    const project = makeProject('from-pack');
    install(project, [join('..', tarball ?? 'no tarball')]);
    expectEntries(project);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();

function makeProject(name: string): string {
  const project = mkdtempSync(join(folder, name));
  writeFileSync(join(project, 'package.json'), '{ "name": "scratch", "private": true, "type": "module" }');
  return project;
}

function install(project: string, what: readonly string[]): void {
  run('npm', ['install', '--no-audit', '--no-fund', ...what], { cwd: project, timeout: patience });
}

function expectEntries(project: string): void {
  const installed = join(project, 'node_modules', 'partner-exchange-sdk');
  const files = readEntries().flatMap(({ built }) => [built, built.replace(/\.js$/, '.d.ts')]);
  const missing = files.filter((file) => !existsSync(join(installed, file)));
  if (missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
  runCommands({ folder: project, installed });
  const imports = readEntries().map(({ specifier }) => `await import('${specifier}');`);
  run(process.execPath, ['--input-type=module', '--eval', imports.join('\n')], { cwd: project });
}
