import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import type { ScratchProject } from './scratch-project.ts';

/** What a CommonJS file of a user's TypeScript program may do under some settings of the compiler. */
export interface CommonJsCase {
  readonly module: string;
  readonly moduleResolution: string;
  /** `works`, or the compiler's error. The same table is in docs/runtimes.md. */
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

/** Compiles both forms of import for every entry, and runs what compiles. Throws where it is not as the case says. */
export function tryCommonJs({ folder }: ScratchProject, expected: CommonJsCase): void {
  const { module, moduleResolution } = expected;
  const own = join(folder, `common-js-${module}-${moduleResolution}`);
  mkdirSync(own);
  const entries = readEntries().map(({ specifier }) => specifier);
  const statics = entries.map((specifier, index) => `import * as entry${index} from '${specifier}';\n`);
  const used = entries.map((_, index) => `entry${index}`).join(', ');
  const sources = {
    static: `${statics.join('')}if ([${used}].some((entry) => Object.keys(entry).length === 0)) throw new Error();\n`,
    dynamic: `async function load() {\n${entries.map((each) => `  await import('${each}');\n`).join('')}}\nvoid load();\n`,
  };
  const found = {
    ...expected,
    staticImport: outcomeOf('static'),
    dynamicImport: outcomeOf('dynamic'),
  };
  rmSync(own, { recursive: true });
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`Found ${JSON.stringify(found)}`);

  function outcomeOf(form: keyof typeof sources): string {
    // Node's modes tell CommonJS by the suffix; the others make it of everything, as a package without "type" does.
    const suffix = module.startsWith('node') ? 'cts' : 'ts';
    writeFileSync(join(own, 'package.json'), '{}');
    writeFileSync(join(own, `${form}.${suffix}`), sources[form]);
    const compilerOptions = {
      module,
      moduleResolution,
      // TypeScript 6 knows node10 only on request.
      ...(moduleResolution === 'node10' && { ignoreDeprecations: '6.0' }),
      strict: true,
      skipLibCheck: true,
      noEmitOnError: true,
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
      typeRoots: [join(root, 'node_modules', '@types')],
      types: ['node'],
    };
    const config = join(own, `${form}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [`${form}.${suffix}`] }));
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    try {
      run(process.execPath, [compiler, '-p', config], { cwd: own });
    } catch (error) {
      return /TS\d+/.exec(String(error))?.[0] ?? String(error);
    }
    run(process.execPath, [`${form}.${suffix === 'cts' ? 'cjs' : 'js'}`], { cwd: own });
    return 'works';
  }
}
