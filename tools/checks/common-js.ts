import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import { type CompilerVersion, compile, compilerVersions, type ScratchProject } from './scratch-project.ts';

/** What a CommonJS file of a user's TypeScript program may do under some settings of the compiler. */
export interface CommonJsCase {
  readonly module: string;
  readonly moduleResolution: string;
  /** The compilers that know these settings. */
  readonly versions: readonly CompilerVersion[];
  /** `works`, or the compiler's error. The same table is in docs/details/runtimes.md. */
  readonly staticImport: string;
  readonly dynamicImport: string;
}

export const commonJsCases: readonly CommonJsCase[] = [
  {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', versions: compilerVersions },
    ...{ staticImport: 'works', dynamicImport: 'works' },
  },
  {
    ...{ module: 'node20', moduleResolution: 'node16', versions: compilerVersions },
    ...{ staticImport: 'works', dynamicImport: 'works' },
  },
  {
    ...{ module: 'node18', moduleResolution: 'node16', versions: compilerVersions },
    ...{ staticImport: 'TS1479', dynamicImport: 'works' },
  },
  {
    ...{ module: 'node16', moduleResolution: 'node16', versions: compilerVersions },
    ...{ staticImport: 'TS1479', dynamicImport: 'works' },
  },
  {
    ...{ module: 'commonjs', moduleResolution: 'bundler', versions: ['7'] },
    ...{ staticImport: 'works', dynamicImport: 'works' },
  },
  {
    ...{ module: 'commonjs', moduleResolution: 'node10', versions: ['5.9'] },
    ...{ staticImport: 'TS2307', dynamicImport: 'TS2307' },
  },
];

/**
 * Compiles both forms of import of every entry for every case, in one process of the compiler, which reads the
 * declarations once, and runs what it emitted. Throws each case that is not as the table says.
 */
export async function compileCommonJs({ folder }: ScratchProject, version: CompilerVersion): Promise<void> {
  const cases = commonJsCases.filter(({ versions }) => versions.includes(version));
  for (const each of cases) writeProgram(folder, each, version);
  const names = cases.map((each) => nameOf(each, version));
  const { output: errors } = await compile(folder, version, names);
  for (const expected of cases) {
    const own = nameOf(expected, version);
    const outcomeOf = (form: 'static' | 'dynamic'): string => {
      const code = new RegExp(`^${own}/${form}\\..*?error (TS\\d+)`, 'm').exec(errors)?.[1];
      if (code !== undefined) return code;
      run(process.execPath, [`${form}.${suffixOf(expected) === 'cts' ? 'cjs' : 'js'}`], {
        cwd: join(folder, own),
      });
      return 'works';
    };
    const found = { ...expected, staticImport: outcomeOf('static'), dynamicImport: outcomeOf('dynamic') };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Error(`Found ${JSON.stringify(found)}\n${errors}`);
    }
  }
}

function nameOf({ module, moduleResolution }: CommonJsCase, version: CompilerVersion): string {
  return `common-js-${version}-${module}-${moduleResolution}`;
}

/** Node's modes tell CommonJS by the suffix; `commonjs` makes it of every file. */
function suffixOf({ module }: CommonJsCase): 'cts' | 'ts' {
  return module.startsWith('node') ? 'cts' : 'ts';
}

/** A folder with a program of each form, and its settings. The compiler emits in spite of errors. */
function writeProgram(folder: string, each: CommonJsCase, version: CompilerVersion): void {
  const { module, moduleResolution } = each;
  const own = join(folder, nameOf(each, version));
  mkdirSync(own);
  const specifiers = readEntries().map(({ specifier }) => specifier);
  const statics = specifiers.map((specifier, index) => `import * as entry${index} from '${specifier}';`);
  const used = `if ([${specifiers.map((_, index) => `entry${index}`)}].includes(undefined!)) throw new Error();`;
  const dynamics = specifiers.map((specifier) => `  await import('${specifier}');`);
  const files = [`static.${suffixOf(each)}`, `dynamic.${suffixOf(each)}`] as const;
  const compilerOptions = {
    module,
    moduleResolution,
    strict: true,
    skipLibCheck: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    typeRoots: [join(root, 'node_modules', '@types')],
    types: ['node'],
  };
  writeFileSync(join(own, 'package.json'), '{}');
  writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  writeFileSync(join(own, files[0]), [...statics, used].join('\n'));
  writeFileSync(join(own, files[1]), ['void (async () => {', ...dynamics, '})();'].join('\n'));
}
