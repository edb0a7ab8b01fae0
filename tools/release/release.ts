import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../checks/entries.ts';
import { run } from '../checks/run.ts';
import { startTally } from '../checks/tally.ts';
import { findDifferences, releaseProblems } from './release-problems.ts';

/*
 * `npm run release -- --dry-run [--skip-tests]`: everything that a release needs, on the last commit: built twice from
 * clean clones, and tried as the tarball that would be published. Goes on after a failure, and lists all at the end.
 *
 * Without --dry-run it leaves release/package.tgz, and its digest, to the job of .github/workflows/release.yml that
 * publishes it.
 */

/** The checks of the tarball: surface, sizes, SBOM, licences; package managers; runtimes. */
const checksOfPackage = ['check:package', 'check:install', 'test:runtimes'];

const { values: flags } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, 'skip-tests': { type: 'boolean' } },
});
const isDryRun = flags['dry-run'] === true;
const skipsTests = flags['skip-tests'] === true;
if (!isDryRun && process.env.CI !== 'true') {
  console.error('A version is published by .github/workflows/release.yml alone: add --dry-run.');
  process.exit(2);
}
if (!isDryRun && skipsTests) {
  console.error('--skip-tests is for a dry run.');
  process.exit(2);
}

const tally = startTally();
const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-release-'));
const clone = join(folder, 'first');
try {
  for (const [name, findProblems] of Object.entries(releaseProblems)) {
    await tally.check(name, () => {
      const problems = findProblems(root);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    });
  }
  let tarball: string | undefined;
  await tally.check('two clones give the same bytes', () => {
    const [first, second] = [packClone('first'), packClone('second')];
    tarball = first;
    const differences = findDifferences(first, second);
    if (differences.length > 0) throw new Error(differences.join('\n'));
  });
  const packed = tarball;
  if (packed !== undefined) {
    if (skipsTests) console.log('SKIP  the tests, and all checks but those of the package');
    else
      for (const room of ['test', 'prove'])
        await tally.check(`npm run ${room} passes`, () => runScript(['run', room], packed));
    const chosen = skipsTests ? ['--', ...checksOfPackage] : [];
    await tally.check(skipsTests ? 'the checks of the package pass' : 'all checks pass', () =>
      runScript(['run', 'check', ...chosen], packed),
    );
    describe(packed);
    if (!isDryRun) keep(packed);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
tally.finish();
for (const failure of tally.failures) console.log(`not ready: ${failure}`);

/** The tarball of the last commit, built in a clone by what the lock file names. */
function packClone(name: string): string {
  const cwd = join(folder, name);
  run('git', ['clone', '--quiet', root, cwd], { cwd: folder });
  run('npm', ['ci', '--no-audit', '--no-fund'], { cwd, timeout: 600_000 });
  const destination = join(folder, `${name}-packed`);
  mkdirSync(destination);
  run('npm', ['pack', '--pack-destination', destination], { cwd, timeout: 600_000 });
  const [tarball] = globSync('*.tgz', { cwd: destination });
  if (tarball === undefined) throw new Error('npm pack made no tarball.');
  return join(destination, tarball);
}

/** Runs a script of the clone, which prints what it does, on the tarball. */
function runScript(args: readonly string[], tarball: string): void {
  const env = { ...process.env, PACKED_TARBALL: tarball };
  const { status } = spawnSync('npm', args, { cwd: clone, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed, see above.`);
}

function describe(tarball: string): void {
  // The form that npm documents.
  const [{ name, version, size, unpackedSize, entryCount }] = JSON.parse(
    run('npm', ['pack', tarball, '--dry-run', '--json', '--ignore-scripts'], { cwd: folder }),
  );
  console.log(`\n${isDryRun ? 'Would publish' : 'To publish'} ${name}@${version}`);
  console.log(`  ${entryCount} files, ${size} bytes, ${unpackedSize} unpacked`);
  console.log(`  commit     ${run('git', ['rev-parse', 'HEAD'], { cwd: root }).trim()}`);
  console.log(`  sha512     ${digestOf(tarball, 'hex')}`);
  console.log(`  integrity  sha512-${digestOf(tarball, 'base64')}\n`);
}

function keep(tarball: string): void {
  const destination = join(root, 'release');
  mkdirSync(destination, { recursive: true });
  copyFileSync(tarball, join(destination, 'package.tgz'));
  const outputs = process.env.GITHUB_OUTPUT;
  if (outputs !== undefined) appendFileSync(outputs, `sha512=${digestOf(tarball, 'hex')}\n`);
}

function digestOf(file: string, encoding: 'hex' | 'base64'): string {
  return createHash('sha512').update(readFileSync(file)).digest(encoding);
}
