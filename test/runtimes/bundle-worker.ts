import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../package/entries.ts';

const folder = import.meta.dirname;

/**
 * Bundles the suite as a Worker's user would, and returns the paths of the modules, the first of them first. Entries
 * that are imported when they are needed stay modules of their own: not every one can be loaded by workerd.
 */
export async function bundleWorker(): Promise<string[]> {
  const outdir = join(folder, 'node_modules', '.worker');
  const { metafile } = await build({
    entryPoints: { worker: join(folder, 'suite', 'worker.ts') },
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
    outdir,
    logLevel: 'error',
    metafile: true,
  });
  if (Object.keys(metafile.inputs).some((file) => file.startsWith('src/') || file.startsWith('dist/'))) {
    throw new Error('What is bundled is not the installed package.');
  }
  const paths = Object.keys(metafile.outputs).map((path) => join(root, path));
  const first = join(outdir, 'worker.js');
  return [first, ...paths.filter((path) => path !== first)];
}
