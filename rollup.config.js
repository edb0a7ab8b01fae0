import { transform } from 'esbuild';

/**
 * What nearly every entry shares is one file each: every file that a program loads takes a millisecond or two, and by
 * default there is one for each set of entries that share something.
 */
const shared = {
  base: /\/src\/(errors|json|options|runtime)\//,
  core: /\/src\/(signature|credentials)\/(?!index)/,
};

export default {
  input: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    inbox: 'src/inbox/index.ts',
    'inbox-sqlite': 'src/inbox/sqlite/index.ts',
    'inbox-bullmq': 'src/inbox/bullmq/index.ts',
    'inbox-pg-boss': 'src/inbox/pg-boss/index.ts',
    diagnostics: 'src/diagnostics/index.ts',
    sandbox: 'src/sandbox/index.ts',
  },
  external: /^node:|^ky$|^zod$/,
  treeshake: { moduleSideEffects: false },
  plugins: [
    {
      name: 'typescript',
      transform: (code, id) =>
        transform(code, { loader: 'ts', target: 'node22', sourcemap: true, sourcefile: id }),
    },
  ],
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunk-[name].js',
    manualChunks: (id) => Object.keys(shared).find((name) => shared[name].test(id)),
  },
};
