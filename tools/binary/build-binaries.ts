import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../checks/entries.ts';
import { run } from '../checks/run.ts';
import { thirdPartyFiles } from '../checks/third-party.ts';

/*
 * `npm run binary [-- --host] [--no-tests]`: the command line in one file for each platform, in binaries/, and the tests of
 * the command line with the one for this machine. Needs a build.
 */

/** By platform and architecture, as Node names them: the compiler, and what runs at the start of the file. */
const targets = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-aarch64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-aarch64',
  'win32-x64': 'bun-windows-x64',
} as const;
type Target = keyof typeof targets;

/** Of what Bun does not bundle from dist, where the licences of the rest are. */
const licenses = ['LICENSE', thirdPartyFiles.licenses, 'node_modules/ky/license', 'node_modules/zod/LICENSE'];
/** The tests that start the command line as a process, and those of the file alone. */
const tests = ['binary', 'doctor', 'process', 'sandbox', 'transcript'];

const { values: flags } = parseArgs({
  options: { host: { type: 'boolean' }, 'no-tests': { type: 'boolean' } },
});
const host = findHost();
const output = join(root, 'binaries');

run('npm', ['ci', '--force', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, timeout: 600_000 });
rmSync(output, { recursive: true, force: true });
mkdirSync(output);
const compiled = (flags.host ? [host] : Object.keys(targets).filter(isTarget)).map(compile);
writeFileSync(join(output, 'LICENSES.txt'), licenses.map(readText).join('\n\n'));
for (const file of compiled) {
  const bytes = readFileSync(join(output, file));
  console.log(`${createHash('sha512').update(bytes).digest('hex')}  ${file}  ${bytes.length} bytes`);
}
if (!flags['no-tests']) testBinary(join(output, nameOf(host)));

function compile(target: Target): string {
  const file = nameOf(target);
  run(
    compilerOf(host),
    [
      ...['build', '--compile', join(root, 'dist/cli/main.js'), '--outfile', join(output, file)],
      ...[`--target=${targets[target]}`, '--compile-executable-path', compilerOf(target)],
      // The files of the folder that it is started in are not its own.
      ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    ],
    { cwd: root },
  );
  return file;
}

function testBinary(binary: string): void {
  const files = globSync(`test/devtools/cli/{${tests.join()}}.*.test.ts`, { cwd: root });
  const env = { ...process.env, TEST_BINARY: binary };
  console.log(
    run('npx', ['--no-install', 'vitest', 'run', '--mode', 'all', ...files], {
      cwd: root,
      env,
      timeout: 600_000,
    }),
  );
}

function compilerOf(target: Target): string {
  const program = target.startsWith('win32') ? 'bun.exe' : 'bun';
  return join(import.meta.dirname, 'node_modules', '@oven', targets[target], 'bin', program);
}

function nameOf(target: Target): string {
  return `partner-exchange-${target}${target.startsWith('win32') ? '.exe' : ''}`;
}

function findHost(): Target {
  const host = `${process.platform}-${process.arch}`;
  if (!isTarget(host)) throw new Error(`No compiler is installed for ${host}.`);
  return host;
}

function isTarget(name: string): name is Target {
  return name in targets;
}

function readText(file: string): string {
  return readFileSync(join(root, file), 'utf8').trim();
}
