import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from './entries.ts';

/**
 * `npm run check [-- lint types …]`: these npm scripts, or those that are named, two at a time. Shows the output of each
 * when it has ended. A failure stops none of the others.
 */

/** The longest first. */
const ofSources = [
  'check:peers',
  'check:install',
  'check:recipes',
  'check:site',
  'check:documents',
  'types',
  'test:languages',
  'docs:reference',
  'lint',
];
/** These try the package, which is built and packed once for all of them, unless PACKED_TARBALL names one. */
const ofPackage = [
  'check:package',
  'test:runtimes',
  'check:skill',
  'check:quick-start',
  'binary',
  'test:orms',
  'examples',
];
const flags: Readonly<Record<string, readonly string[]>> = {
  'docs:reference': ['--', '--check'],
  binary: ['--', '--host'],
};

const named = process.argv.slice(2);
const isChosen = (script: string) => named.length === 0 || named.includes(script);
const unknown = named.filter((script) => ![...ofSources, ...ofPackage].includes(script));
if (unknown.length > 0) throw new Error(`No part of the check: ${unknown.join(', ')}`);

const queue = ofSources.filter(isChosen);
const failed: string[] = [];
const begun = performance.now();
const packed = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
try {
  await Promise.all([runPackageThenQueue(), runQueue()]);
} finally {
  rmSync(packed, { recursive: true, force: true });
}
console.log(
  `\n${secondsSince(begun)} s, ${failed.length === 0 ? 'all is well' : `failed: ${failed.join(', ')}`}`,
);
if (failed.length > 0) process.exitCode = 1;

async function runPackageThenQueue(): Promise<void> {
  const chosen = ofPackage.filter(isChosen);
  if (chosen.length > 0) {
    process.env.PACKED_TARBALL ??= await packTree();
    if (process.env.PACKED_TARBALL === '') failed.push(...chosen);
    else queue.unshift(...chosen);
  }
  await runQueue();
}

/** The tarball, built as `npm publish` does it, by `prepack`; an empty text if that fails. */
async function packTree(): Promise<string> {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await runStep('build and pack', ['pack', '--loglevel=error', '--pack-destination', packed]);
  const [tarball] = globSync('*.tgz', { cwd: packed });
  return tarball === undefined ? '' : join(packed, tarball);
}

async function runQueue(): Promise<void> {
  for (let script = queue.shift(); script !== undefined; script = queue.shift()) {
    await runStep(script, ['run', '--silent', script, ...(flags[script] ?? [])]);
  }
}

async function runStep(name: string, args: readonly string[]): Promise<void> {
  const start = performance.now();
  console.log(`${name} …`);
  const child = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const output = (await Promise.all([text(child.stdout), text(child.stderr)])).join('');
  const [code] = await ended;
  // A type of a public signature that no entry exports: an installer would read a page of these.
  const isOk = code === 0 && !output.includes('[plugin dts]');
  if (!isOk) failed.push(name);
  console.log(`\n== ${name}: ${isOk ? 'ok' : 'FAILED'}, ${secondsSince(start)} s\n${output.trim()}`);
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1_000);
}
