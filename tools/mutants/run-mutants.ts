import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run mutants [-- signature webhooks]`: changes each expression of these folders of `src`, and looks whether a test
 * of theirs fails. docs/details/development.md says how to read it. Flags of Stryker may follow the folders:
 * `-- webhooks --concurrency 1 --mutate src/webhooks/handlers.ts`.
 */

const given = process.argv.slice(2);
const firstFlag = given.findIndex((argument) => argument.startsWith('-'));
const [folders, flags] = firstFlag === -1 ? [given, []] : [given.slice(0, firstFlag), given.slice(firstFlag)];
if (folders.length === 0) folders.push('signature', 'webhooks', 'keys', 'orders', 'inbox');

const stryker = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');
// Installed when it is needed, since the project's own install is small, and without its peer: vitest is the project's.
const quietly = ['--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps'];
if (!existsSync(stryker)) run('npm', ['ci', ...quietly], import.meta.dirname);
const mutated = folders.map((folder) => `src/${folder}/**/*.ts`).join();
run(process.execPath, [stryker, 'run', 'tools/mutants/stryker.config.json', '--mutate', mutated, ...flags]);

function run(command: string, args: readonly string[], cwd = join(import.meta.dirname, '../..')): void {
  const env = { ...process.env, MUTANTS: folders.join() };
  const { status } = spawnSync(command, args, { cwd, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
