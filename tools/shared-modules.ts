import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Options } from 'tsup';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Modules of `src/internal` that nearly every entry holds. A module becomes a file of its own for each set of entries
 * that shares it, and a file takes half a millisecond of a start, more than what is in most of them.
 */
const sharedModules = ['driver-error', 'json-scanner', 'json-tree', 'options', 'printable-text', 'warn'];
const files = sharedModules.map((name) => join(resolve('src/internal'), `${name}.ts`));

/** Has every entry hold the shared modules, so that they are one file, with the errors that every entry holds. */
export function withSharedModules(entries: readonly string[]): EsbuildPlugin {
  const holders = new Set(entries.map((entry) => resolve(entry)));
  return {
    name: 'shared-modules',
    setup(build) {
      build.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, kind }) => {
        const file = resolve(resolveDir, path);
        // What is imported later is an entry, too.
        if (kind === 'dynamic-import') holders.add(file);
        // Otherwise an import without names is left out, since the package has no side effects.
        return files.includes(file) ? { path: file, sideEffects: true } : undefined;
      });
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!holders.has(path)) return undefined;
        const imports = files.map((file) => `import ${JSON.stringify(file)};`);
        return { contents: `${readFileSync(path, 'utf8')}\n${imports.join('\n')}\n`, loader: 'ts' };
      });
    },
  };
}
