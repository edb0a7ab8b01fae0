import { relative, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { defineConfig } from 'tsup';

// `build:js` is for running the examples: quick, and it leaves the declarations of a whole build in place.
const whole = !process.argv.includes('--no-dts');

const common = { format: 'esm', target: 'node22', platform: 'node', sourcemap: true } as const;

/**
 * What signing and verifying needs, and nearly every entry with it, goes into one file, `core.js`: as the several
 * shared chunks that splitting makes of it, loading `./signature` takes twice as long.
 */
const coreModules = await modulesBehind(
  'src/signature/sign-body.ts',
  'src/signature/verify-body.ts',
  'src/credentials/define-credentials.ts',
  'src/credentials/signing-key.ts',
  'src/deployment/wire-names.ts',
  'src/errors/warn.ts',
);

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
  esbuildPlugins: [coreIsExternal()],
  onSuccess: buildCore,
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

function coreIsExternal(): Plugin {
  return {
    name: 'core-is-external',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) =>
        coreModules.includes(resolve(resolveDir, path)) ? { path: './core.js', external: true } : undefined,
      );
    },
  };
}

/** One file of all that the core modules export. */
async function buildCore(): Promise<void> {
  const contents = coreModules.map((path) => `export * from './${relative('.', path)}';`).join('\n');
  await build({
    ...common,
    bundle: true,
    stdin: { contents, resolveDir: '.', sourcefile: 'core.ts' },
    outfile: 'dist/core.js',
  });
}
