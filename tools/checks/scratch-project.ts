import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readCommands, readEntries, root } from './entries.ts';
import { makeReexports } from './reexports.ts';
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

/** Every TypeScript that the declarations are for. */
export const compilerVersions = ['5.9', '7'] as const;

export type CompilerVersion = (typeof compilerVersions)[number];

/**
 * Writes a program that uses the package, and every entry of it, the declarations themselves included. And for each
 * entry a program that passes on what is at home there and knows no other entry. The function that it returns compiles
 * them in one process, which reads the declarations once, and throws what is wrong: each type that they cannot name, too.
 */
export function writeConsumers({ folder }: ScratchProject): (version: CompilerVersion) => Promise<void> {
  cpSync(join(import.meta.dirname, 'consumer.ts'), join(folder, 'consumer.ts'));
  const entries = readEntries().map(
    ({ specifier }, index) => `export * as entry${index} from '${specifier}';\n`,
  );
  writeFileSync(join(folder, 'entries.ts'), entries.join(''));
  const reexports = makeReexports().map(({ subpath, code }) => {
    const project = join(folder, 'reexports', subpath);
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, 'reexport.ts'), code);
    return project;
  });
  return async (version) => {
    const consumers = (['nodenext', 'bundler'] as const).map((moduleResolution) =>
      writeProject(folder, ['consumer.ts', 'entries.ts'], { version, moduleResolution, skipLibCheck: false }),
    );
    // The consumers check the declarations themselves.
    const settings = { version, moduleResolution: 'nodenext', skipLibCheck: true } as const;
    const passingOn = reexports.map((project) => writeProject(project, ['reexport.ts'], settings));
    const { code, output } = await compile(folder, version, [...consumers, ...passingOn]);
    if (code !== 0) throw new Error(output);
  };
}

/** Builds these projects, and returns what the compiler printed. */
export async function compile(
  folder: string,
  version: CompilerVersion,
  projects: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const name = `typescript-${version.replace('.', '-')}`;
  const compiler = join(root, 'node_modules', name, 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '--build', ...projects], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

/** The settings of a strict program of a user, whose declarations are written too. */
function writeProject(
  folder: string,
  files: readonly string[],
  {
    version,
    moduleResolution,
    skipLibCheck,
  }: { version: CompilerVersion; moduleResolution: 'nodenext' | 'bundler'; skipLibCheck: boolean },
): string {
  const name = `${version}-${moduleResolution}`;
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck,
    // A type that users cannot name breaks a user's own declarations (TS4023).
    declaration: true,
    emitDeclarationOnly: true,
    outDir: join(folder, name),
    rootDir: folder,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: moduleResolution === 'nodenext' ? 'nodenext' : 'preserve',
    moduleResolution,
    // The user's own @types/node, which the declarations of node:http come from.
    typeRoots: [join(root, 'node_modules', '@types')],
    types: ['node'],
  };
  const config = join(folder, `tsconfig.${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  return config;
}
