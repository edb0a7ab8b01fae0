import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries, root } from './entries.ts';
import { run } from './run.ts';
import type { ScratchProject } from './scratch-project.ts';

/** What a CommonJS file of a user's TypeScript program may do under some settings of the compiler. */
export interface CommonJsCase {
  readonly module: string;
  readonly moduleResolution: string;
  /** `works`, or the compiler's error. The same table is in docs/details/runtimes.md. */
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
  const own = join(folder, `common-js-${expected.module}-${expected.moduleResolution}`);
  mkdirSync(own);
  writeFileSync(join(own, 'package.json'), '{}');
  // Node's modes tell CommonJS by the suffix; `commonjs` makes it of every file.
  const [source, built] = expected.module.startsWith('node') ? ['cts', 'cjs'] : ['ts', 'js'];
  const specifiers = readEntries().map(({ specifier }) => specifier);
  const statics = specifiers.map((specifier, index) => `import * as entry${index} from '${specifier}';`);
  const used = `if ([${specifiers.map((_, index) => `entry${index}`)}].includes(undefined!)) throw new Error();`;
  const dynamics = specifiers.map((specifier) => `  await import('${specifier}');`);
  writeFileSync(join(own, `static.${source}`), [...statics, used].join('\n'));
  writeFileSync(join(own, `dynamic.${source}`), ['void (async () => {', ...dynamics, '})();'].join('\n'));

  const errors = compile(own, source, expected);
  const outcomeOf = (form: 'static' | 'dynamic'): string => {
    const code = new RegExp(`^${form}\\.${source}.*?error (TS\\d+)`, 'm').exec(errors)?.[1];
    if (code !== undefined) return code;
    run(process.execPath, [`${form}.${built}`], { cwd: own });
    return 'works';
  };
  const found = { ...expected, staticImport: outcomeOf('static'), dynamicImport: outcomeOf('dynamic') };
  rmSync(own, { recursive: true });
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`Found ${JSON.stringify(found)}`);
}

/** What the compiler says; it emits all the same. */
function compile(folder: string, suffix: string, { module, moduleResolution }: CommonJsCase): string {
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
  const files = [`static.${suffix}`, `dynamic.${suffix}`];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  try {
    return run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], { cwd: folder });
  } catch (error) {
    return String(error).replace(/^Error: exit code \d\n/, '');
  }
}
