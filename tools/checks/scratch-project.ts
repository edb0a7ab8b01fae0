import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommands, readEntries, root } from './entries.ts';
import { run } from './run.ts';

/** A user's project in the system's temporary folder, with the packed package installed from its tarball. */
export interface ScratchProject {
  readonly folder: string;
  readonly tarball: string;
  /** Where the package lies once installed. */
  readonly installed: string;
  remove(): void;
}

export function makeScratchProject(): ScratchProject {
  const folder = mkdtempSync(join(tmpdir(), 'partner-exchange-sdk-'));
  const tarball = packTarball(folder);
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'scratch', private: true, type: 'module' }),
  );
  run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder });
  return {
    folder,
    tarball,
    installed: join(folder, 'node_modules', 'partner-exchange-sdk'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The tarball that `npm run check` has packed, or one of what was built. */
export function packTarball(folder: string): string {
  if (process.env.PACKED_TARBALL !== undefined) return process.env.PACKED_TARBALL;
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [tarball] = globSync('*.tgz', { cwd: folder });
  if (tarball === undefined) throw new Error('npm pack made no tarball.');
  return join(folder, tarball);
}

/** Imports and requires every entry in a fresh process; throws where the two are not one. */
export function probeIdentity({ folder }: ScratchProject): void {
  cpSync(join(import.meta.dirname, 'identity-probe.mjs'), join(folder, 'identity-probe.mjs'));
  const specifiers = readEntries().map(({ specifier }) => specifier);
  run(process.execPath, ['identity-probe.mjs', ...specifiers], { cwd: folder });
}

/** Runs every command by its name, and the package by its own; throws when one does not print the version. */
export function runCommands({ folder, installed }: Pick<ScratchProject, 'folder' | 'installed'>): void {
  // Our own file, as it was packed.
  const { name, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  for (const command of [...Object.keys(readCommands()), name]) {
    const printed = run('npx', ['--no-install', command, '--version'], { cwd: folder });
    if (printed.trim() !== version) throw new Error(`npx ${command} --version printed: ${printed}`);
  }
}

/** Compiles a program that uses the package, and every entry of it, the declarations themselves included; throws what is wrong. */
export function compileConsumer({ folder }: ScratchProject, moduleResolution: 'nodenext' | 'bundler'): void {
  cpSync(join(import.meta.dirname, 'consumer.ts'), join(folder, 'consumer.ts'));
  const entries = readEntries().map(
    ({ specifier }, index) => `export * as entry${index} from '${specifier}';\n`,
  );
  writeFileSync(join(folder, 'entries.ts'), entries.join(''));
  const config = `tsconfig.${moduleResolution}.json`;
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    // A type that nobody can name breaks a user's own declarations (TS4023).
    declaration: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: moduleResolution === 'nodenext' ? 'nodenext' : 'preserve',
    moduleResolution,
    // The user's own @types/node, which the declarations of node:http come from.
    typeRoots: [join(root, 'node_modules', '@types')],
    types: ['node'],
  };
  writeFileSync(
    join(folder, config),
    JSON.stringify({ compilerOptions, files: ['consumer.ts', 'entries.ts'] }),
  );
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [compiler, '-p', config], { cwd: folder });
}
