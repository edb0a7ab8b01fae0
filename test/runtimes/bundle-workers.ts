import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { root } from '../../tools/checks/entries.ts';

const folder = import.meta.dirname;

/**
 * Bundles the suite and the example as a Worker's user would, and returns the paths of all modules. Entries that are
 * imported when they are needed stay modules of their own: not every one can be loaded by workerd.
 */
export async function bundleWorkers(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [join(folder, 'suite', 'worker.ts'), join(root, 'examples', 'queues', 'cloudflare.ts')],
    entryNames: '[name]',
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker'],
    external: ['node:*', 'cloudflare:*'],
    // Of the installed package, not of the source that tsconfig.json maps its name to.
    tsconfigRaw: {},
    plugins: [installedPackage],
    outdir: join(folder, 'node_modules', '.worker'),
    logLevel: 'error',
    metafile: true,
  });
  if (Object.keys(metafile.inputs).some((file) => file.startsWith('src/') || file.startsWith('dist/'))) {
    throw new Error('What is bundled is not the installed package.');
  }
  return Object.keys(metafile.outputs).map((path) => join(root, path));
}

/** An example lies outside this folder, where the package would be the repository itself. */
const installedPackage: Plugin = {
  name: 'installed-package',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^partner-exchange-sdk/ }, ({ path, kind, resolveDir }) =>
      resolveDir === folder ? undefined : resolve(path, { kind, resolveDir: folder }),
    );
  },
};
