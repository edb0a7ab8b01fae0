import { copyFileSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../package/entries.ts';
import { run } from '../package/run.ts';
import type { Report } from './suite/checks.ts';

/*
 * Installs the packed package and the runtimes in this folder, and runs the same checks on each of them. The source
 * of the checks is run as it is, but for workerd, which takes one file: it is bundled as a Worker's user would.
 */

const folder = import.meta.dirname;
const bin = join(folder, 'node_modules');
const main = join(folder, 'suite', 'main.ts');

const runtimes: {
  readonly name: string;
  readonly version: () => string;
  readonly report: () => Promise<string>;
}[] = [
  ...['node22', 'node24', 'node26'].map((alias) =>
    onCommandLine('Node', join(bin, alias, 'bin', 'node'), []),
  ),
  onCommandLine('Bun', join(bin, '.bin', 'bun'), ['run']),
  onCommandLine('Deno', join(bin, '.bin', 'deno'), [
    'run',
    '--quiet',
    '--no-check',
    '--node-modules-dir=manual',
    '-A',
  ]),
  {
    name: 'workerd',
    version: () => `${run(join(bin, '.bin', 'workerd'), ['--version'], { cwd: folder })} (nodejs_compat)`,
    report: reportOfWorker,
  },
];

install();
let failed = 0;
for (const { name, version, report } of runtimes) {
  try {
    const output = (await report()).trimEnd().split('\n').at(-1) ?? '';
    // Sound: the suite of this folder prints it.
    const { passed, failures, notes } = JSON.parse(output) as Report;
    failed += failures.length;
    if (passed === 0) failed++;
    console.log(`${label(name, version)}: ${passed} passed, ${failures.length} failed (${notes.join('; ')})`);
    for (const failure of failures.slice(0, 20)) console.log(`  FAIL ${failure}`);
  } catch (error) {
    failed++;
    console.log(`${name}: did not run\n${error instanceof Error ? error.message : String(error)}`);
  }
}
if (failed > 0) process.exitCode = 1;

function install(): void {
  const npm = (...args: string[]) => run('npm', args, { cwd: folder, timeout: 600_000 });
  // Without a lock: npm writes one of this platform's packages alone. The versions are exact.
  npm('install', '--no-package-lock', '--no-audit', '--no-fund');
  const packed = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
  try {
    run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: root });
    const [tarball] = globSync('*.tgz', { cwd: packed });
    if (tarball === undefined) throw new Error('npm pack made no tarball.');
    // By a name without its version: npm would take one that it knows from its cache.
    copyFileSync(join(packed, tarball), join(packed, 'package.tgz'));
    npm('install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', join(packed, 'package.tgz'));
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
  if (!existsSync(join(bin, 'partner-exchange-sdk'))) throw new Error('The package was not installed.');
}

function onCommandLine(name: string, program: string, args: readonly string[]) {
  return {
    name,
    version: () => run(program, ['--version'], { cwd: folder }),
    report: async () => run(program, [...args, main], { cwd: folder }),
  };
}

async function reportOfWorker(): Promise<string> {
  const outfile = join(bin, '.worker', 'worker.mjs');
  const { metafile } = await build({
    entryPoints: [join(folder, 'suite', 'worker.ts')],
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker'],
    external: ['node:*'],
    // Of the installed package, not of the source that tsconfig.json maps its name to.
    tsconfigRaw: {},
    outfile,
    logLevel: 'error',
    metafile: true,
  });
  if (Object.keys(metafile.inputs).some((file) => file.startsWith('src/') || file.startsWith('dist/'))) {
    throw new Error('What is bundled is not the installed package.');
  }
  return run(join(bin, 'node24', 'bin', 'node'), [join(folder, 'run-worker.mjs'), outfile], { cwd: folder });
}

/** `Bun 1.4.5`, of whatever form the version is printed in. */
function label(name: string, version: () => string): string {
  const [first = ''] = version().trim().split('\n');
  return `${name} ${first.replace(/^(?:deno|workerd|v)\s*/, '')}`;
}
