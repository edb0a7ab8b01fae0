import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import { packTarball, runCommands } from './scratch-project.ts';
import { startTally } from './tally.ts';

/*
 * The last commit, cloned and installed from git, where npm builds it, and its tarball, installed by each package
 * manager. The first sees nothing that is not committed.
 */

/** The package managers that are tried, from the registry. */
const managers = { npm: '12.2.0', pnpm: '12.21.0', '@yarnpkg/cli-dist': '4.18.1', bun: '1.4.5' };

/** By manager: what a user types, with the tarball at the end. Yarn has no node_modules (Plug'n'Play). */
const additions = [
  { manager: 'npm', add: ['npm', 'install', '--no-audit', '--no-fund'], start: ['npx', '--no-install'] },
  { manager: 'pnpm', add: ['pnpm', 'add'], start: ['pnpm', 'exec'] },
  { manager: 'Yarn', add: ['yarn', 'add'], start: ['yarn', 'run'] },
  { manager: 'Bun', add: ['bun', 'add'], start: ['bun', 'x', '--no-install'] },
] as const;

/** Yarn says that of every package that is ESM. */
const saidOfAllPackages = /^.*YN0092: .*ESM support for PnP.*$|Done with warnings/gm;

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
  const installers = join(folder, 'installers');
  await tally.check('npm has the package managers', () => {
    mkdirSync(installers);
    const manifest = { private: true, dependencies: managers, allowScripts: { bun: true, pnpm: true } };
    writeFileSync(join(installers, 'package.json'), JSON.stringify(manifest));
    run('npm', ['install', '--no-audit', '--no-fund'], { cwd: installers, timeout: 600_000 });
  });
  const tarball = packTarball(folder);
  for (const { manager, add, start } of additions) {
    await tally.check(`${manager} installs the tarball without a warning, and runs its command`, () => {
      const project = join(folder, `with-${manager}`);
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{ "name": "scratch", "private": true }');
      // A user's own settings say nothing about the package.
      writeFileSync(join(project, '.npmrc'), '');
      const env = {
        ...process.env,
        PATH: `${join(installers, 'node_modules', '.bin')}:${process.env.PATH}`,
        NPM_CONFIG_USERCONFIG: join(project, '.npmrc'),
        YARN_ENABLE_TELEMETRY: '0',
      };
      const source = manager === 'Yarn' ? `partner-exchange-sdk@file:${tarball}` : tarball;
      const printed = runAll([...add, source], project, env).replaceAll(saidOfAllPackages, '');
      if (/\bwarn|\berror|install.?scripts|prepare/i.test(printed)) throw new Error(printed);
      runAll([...start, 'partner-exchange-sdk', '--version'], project, env);
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();

/** What a command printed to both of its outputs. */
function runAll(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): string {
  return run('sh', ['-c', '"$@" 2>&1', 'sh', ...command], { cwd, env, timeout: 300_000 });
}
