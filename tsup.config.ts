import { relative, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { defineConfig } from 'tsup';

// `build:js` is for running the examples: quick, and it leaves the declarations of a whole build in place.
const whole = !process.argv.includes('--no-dts');

const common = { format: 'esm', target: 'node22', platform: 'node', sourcemap: true } as const;

/**
 * What signing and verifying needs, and nearly every entry with it, goes into two files: as the many shared chunks
 * that splitting makes of it, loading `./signature` takes twice as long. The errors are apart, for entries that need
 * no `node:crypto`; `src/json` has no state and no classes, and may be there twice.
 */
const shared = await modulesBehind(
  'src/signature/sign-body.ts',
  'src/signature/verify-body.ts',
  'src/credentials/define-credentials.ts',
  'src/credentials/signing-key.ts',
  'src/deployment/wire-names.ts',
  'src/errors/warn.ts',
);
const files: Readonly<Record<'core' | 'errors', readonly string[]>> = {
  core: shared.filter((path) => !isIn('errors', path) && !isIn('json', path)),
  errors: shared.filter((path) => isIn('errors', path)),
};

export default defineConfig({
  ...common,
  entry: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    inbox: 'src/inbox/index.ts',
    'inbox-sqlite': 'src/inbox/sqlite/index.ts',
    'inbox-bullmq': 'src/inbox/bullmq/index.ts',
    'inbox-pg-boss': 'src/inbox/pg-boss/index.ts',
    sandbox: 'src/sandbox/index.ts',
  },
  // One copy of every class across entries: without shared chunks `instanceof` breaks.
  splitting: true,
  removeNodeProtocol: false,
  esbuildPlugins: [sharedIsExternal()],
  onSuccess: buildShared,
  clean: whole || ['!**/*.d.ts'],
  dts: whole,
});

/** The source files that these reach at run time. */
async function modulesBehind(...entryPoints: string[]): Promise<string[]> {
  const options = {
    bundle: true,
    packages: 'external',
    platform: 'node',
    outdir: 'dist',
    write: false,
  } as const;
  const { metafile } = await build({ ...options, entryPoints, metafile: true } satisfies BuildOptions);
  return Object.keys(metafile.inputs).map((path) => resolve(path));
}

function isIn(folder: string, path: string): boolean {
  return relative('src', path).startsWith(`${folder}/`);
}

/** Leaves imports of the shared modules to the file they are in; `own` is the file that is being made. */
function sharedIsExternal(own?: string): Plugin {
  return {
    name: 'shared-is-external',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
        const target = resolve(resolveDir, path);
        const file = Object.entries(files).find(([, modules]) => modules.includes(target))?.[0];
        return file === undefined || file === own ? undefined : { path: `./${file}.js`, external: true };
      });
    },
  };
}

/** One file each of all that its modules export. */
async function buildShared(): Promise<void> {
  for (const [file, modules] of Object.entries(files)) {
    const contents = modules.map((path) => `export * from './${relative('.', path)}';`).join('\n');
    await build({
      ...common,
      bundle: true,
      plugins: [sharedIsExternal(file)],
      stdin: { contents, resolveDir: '.', sourcefile: `${file}.ts` },
      outfile: `dist/${file}.js`,
    });
  }
}
