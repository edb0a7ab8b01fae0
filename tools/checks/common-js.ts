import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import type { ScratchProject } from './scratch-project.ts';

/** What a CommonJS file of a user's TypeScript program may do under some settings of the compiler. */
export interface CommonJsCase {
  readonly module: string;
  readonly moduleResolution: string;
  /** `works`, or the compiler's error. The same table is in docs/details/typescript.md. */
  readonly staticImport: string;
  readonly dynamicImport: string;
}

export const commonJsCases: readonly CommonJsCase[] = [
  { module: 'nodenext', moduleResolution: 'nodenext', staticImport: 'works', dynamicImport: 'works' },
  { module: 'node20', moduleResolution: 'node16', staticImport: 'works', dynamicImport: 'works' },
  { module: 'node18', moduleResolution: 'node16', staticImport: 'TS1479', dynamicImport: 'works' },
  { module: 'node16', moduleResolution: 'node16', staticImport: 'TS1479', dynamicImport: 'works' },
  { module: 'commonjs', moduleResolution: 'bundler', staticImport: 'works', dynamicImport: 'works' },
  { module: 'commonjs', moduleResolution: 'node10', staticImport: 'TS2307', dynamicImport: 'TS2307' },
];

/**
 * Compiles both forms of import of every entry for every case, in one process of the compiler, which reads the
 * declarations once. The function that it returns runs what a case emitted, and throws where it is not as the case says.
 */
export function compileCommonJs({ folder }: ScratchProject): (expected: CommonJsCase) => void {
  for (const each of commonJsCases) writeProgram(folder, each);
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout: errors } = spawnSync(process.execPath, [compiler, '-b', ...commonJsCases.map(nameOf)], {
    cwd: folder,
    encoding: 'utf8',
  });
  return (expected) => {
    const own = nameOf(expected);
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
  };
}

function nameOf({ module, moduleResolution }: CommonJsCase): string {
  return `common-js-${module}-${moduleResolution}`;
}

/** Node's modes tell CommonJS by the suffix; `commonjs` makes it of every file. */
function suffixOf({ module }: CommonJsCase): 'cts' | 'ts' {
  return module.startsWith('node') ? 'cts' : 'ts';
}

/** A folder with a program of each form, and its settings. The compiler emits in spite of errors. */
function writeProgram(folder: string, each: CommonJsCase): void {
  const { module, moduleResolution } = each;
  const own = join(folder, nameOf(each));
  mkdirSync(own);
  const specifiers = readEntries().map(({ specifier }) => specifier);
  const statics = specifiers.map((specifier, index) => `import * as entry${index} from '${specifier}';`);
  const used = `if ([${specifiers.map((_, index) => `entry${index}`)}].includes(undefined!)) throw new Error();`;
  const dynamics = specifiers.map((specifier) => `  await import('${specifier}');`);
  const files = [`static.${suffixOf(each)}`, `dynamic.${suffixOf(each)}`] as const;
  const compilerOptions = {
    module,
    moduleResolution,
    // TypeScript 6 knows node10 only on request.
    ...(moduleResolution === 'node10' && { ignoreDeprecations: '6.0' }),
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
