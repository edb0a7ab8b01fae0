import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { installPacked } from '../../tools/checks/install-packed.ts';
import { run } from '../../tools/checks/run.ts';
import { bundleWorkers } from './bundle-workers.ts';
import { authorityFile } from './servers/http2-server.ts';
import type { Report } from './suite/checks.ts';

/*
 * Installs the packed package and the runtimes in this folder, and runs the same checks on each of them. The source
 * of the checks is run as it is, but for workerd, which gets it as a Worker's user would bundle it. Needs a build.
 *
 * In CI every runtime has to be there. Elsewhere one that could not be installed is skipped, and named.
 */

interface Runtime {
  /** Its first word goes with the version. */
  readonly name: string;
  /** As the runtime tells it. Throws when it cannot be started. */
  readonly version: () => string;
  /** What the runtime printed; its last line is the report. */
  readonly report: () => string | Promise<string>;
}

const folder = import.meta.dirname;
const bin = join(folder, 'node_modules');
const main = join(folder, 'suite', 'main.ts');
const inContinuousIntegration = process.env.CI === 'true' || process.env.CI === '1';

const runtimes: readonly Runtime[] = [
  // It runs TypeScript when it is asked to, and has no node:sqlite unless it is asked to.
  onCommandLine('Node 22.12', nodeOf('node22-oldest'), ['--experimental-strip-types', '--no-warnings']),
  onCommandLine('Node 22', nodeOf('node22'), []),
  onCommandLine('Node 24', nodeOf('node24'), []),
  onCommandLine('Node 26', nodeOf('node26'), []),
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
    version: () => run(join(bin, '.bin', 'workerd'), ['--version'], { cwd: folder }),
    report: async () =>
      run(process.execPath, [join(folder, 'run-worker.mjs'), ...(await bundleWorkers())], { cwd: folder }),
  },
];

const notInstalled = tryInstall();
const servers = await startServers();
if (notInstalled !== undefined) console.log(notInstalled);
let failed = 0;
for (const runtime of runtimes) await tryRuntime(runtime);
servers.kill();
if (failed > 0) process.exitCode = 1;

/** In a process of their own: this one waits for the runtimes, and does nothing else. They get the addresses. */
async function startServers(): Promise<ChildProcess> {
  const servers = spawn(process.execPath, [join(folder, 'servers', 'main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(servers.stdout, 'data');
  process.env.RUNTIMES_SERVERS = String(line);
  // Node and Bun read the one, Deno the other.
  process.env.NODE_EXTRA_CA_CERTS = process.env.DENO_CERT = authorityFile;
  return servers;
}

function tryInstall(): string | undefined {
  try {
    installPacked(folder);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

async function tryRuntime({ name, version, report }: Runtime): Promise<void> {
  let label: string;
  try {
    // A package of an earlier run is not the one to try.
    if (notInstalled !== undefined) throw new Error('see above');
    label = `${name.split(' ')[0]} ${plainVersion(version())}`;
  } catch (error) {
    const why = `could not be installed: ${messageOf(error)}`;
    if (inContinuousIntegration) fail(name, why);
    else console.log(`${name}: skipped, ${why}`);
    return;
  }
  try {
    const begun = performance.now();
    const output = (await report()).trimEnd().split('\n').at(-1) ?? '';
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    // Sound: the suite of this folder prints it.
    const { passed, failures, notes } = JSON.parse(output) as Report;
    if (passed === 0) throw new Error('No check was run.');
    failed += failures.length;
    const details = [...notes, `${seconds} s`].join('; ');
    console.log(`${label}: ${passed} passed, ${failures.length} failed (${details})`);
    for (const failure of failures.slice(0, 20)) console.log(`  FAIL ${failure}`);
  } catch (error) {
    fail(label, messageOf(error));
  }
}

function fail(label: string, why: string): void {
  failed++;
  console.log(`${label}: 0 passed, 1 failed\n  FAIL ${why}`);
}

function onCommandLine(name: string, program: string, args: readonly string[]): Runtime {
  return {
    name,
    version: () => run(program, ['--version'], { cwd: folder }),
    report: () => run(program, [...args, main], { cwd: folder }),
  };
}

function nodeOf(alias: string): string {
  return join(bin, alias, 'bin', 'node');
}

/** `1.4.5`, of whatever form the version is printed in. */
function plainVersion(printed: string): string {
  const [first = ''] = printed.trim().split('\n');
  return first.replace(/^(?:deno|workerd|v)\s*/, '').replace(/ \(.*/, '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
