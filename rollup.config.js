import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { transform } from 'esbuild';
import { inspectorPage, isPage, preactFolder } from './rollup.inspector.js';

/**
 * What many entries share is one file each: every file that a program loads takes up to a millisecond, and by default
 * there is one for each set of entries that share something.
 */
const shared = {
  base: /\/src\/(errors|json|options|runtime|redaction)\//,
  keys: /\/src\/(signature|credentials)\/(?!index)/,
  // The numbering plans of all countries, for the entries that read phone numbers.
  phone: /\/src\/phone\/|\/node_modules\/libphonenumber-js\//,
};

/** What becomes part of the library: development dependencies, and zod/mini, of which 90 files would load one by one. */
const bundled = ['csv-parse', 'libphonenumber-js', 'zod'];

const external = /^node:|^stream$|^ky$|^zod$/;
const treeshake = { moduleSideEffects: false };
// Deno and Workers want the prefix; csv-parse is written without it.
const paths = { stream: 'node:stream' };

/** Takes types out, and comments too: a quarter of zod/mini, which is read at each start. */
const typescript = {
  name: 'typescript',
  transform: (code, id) =>
    /\.m?[jt]s$/.test(id)
      ? transform(code, {
          loader: id.endsWith('.ts') ? 'ts' : 'js',
          target: 'node22',
          sourcemap: true,
          sourcefile: id,
        })
      : undefined,
};

/** What the licences of bundled packages want to travel with them. */
const thirdPartyLicenses = {
  name: 'third-party-licenses',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap(({ modules = {} }) => Object.keys(modules));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
    if (modules.some(isPage)) folders.push(preactFolder);
    const texts = [...new Set(folders)].sort().map(licenseText);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: texts.join('\n\n') });
  },
};

function licenseText(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = globSync('LICENSE*', { cwd: folder }).sort();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  // Not every package carries the text of its licence.
  if (texts.length === 0) texts.push(`https://spdx.org/licenses/${license}.html`);
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

const library = {
  input: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    inbox: 'src/inbox/index.ts',
    'inbox-sqlite': 'src/inbox/sqlite/index.ts',
    'inbox-bullmq': 'src/inbox/bullmq/index.ts',
    'inbox-pg-boss': 'src/inbox/pg-boss/index.ts',
    store: 'src/store/index.ts',
    'store-sqlite': 'src/store/sqlite/index.ts',
    rotation: 'src/rotation/index.ts',
    'store-redis': 'src/store/redis/index.ts',
    'store-postgres': 'src/store/postgres/index.ts',
    orders: 'src/orders/index.ts',
    otp: 'src/otp/index.ts',
    bulk: 'src/bulk/index.ts',
    diagnostics: 'src/diagnostics/index.ts',
    sandbox: 'src/sandbox/index.ts',
    testing: 'src/testing/index.ts',
  },
  external,
  treeshake,
  plugins: [inspectorPage(), typescript, nodeResolve({ resolveOnly: bundled }), thirdPartyLicenses],
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    paths,
    chunkFileNames: 'chunk-[name].js',
    manualChunks(id, { getModuleInfo }) {
      const name = Object.keys(shared).find((each) => shared[each].test(id));
      // ./signature is to load nothing else.
      return name && loads('src/signature/index.ts', id, getModuleInfo) ? `signature-${name}` : name;
    },
  },
};

/** The command line's files are read at each start, and nobody imports them: short ones load sooner. */
const minified = {
  name: 'minified',
  renderChunk: (code) => transform(code, { minify: true, keepNames: true, target: 'node22', format: 'esm' }),
};

/**
 * The command line holds all that it uses but ky and zod, so that it adds nothing to what is installed, and shares no
 * file with the library, so that no entry changes with it. Each command is a file of its own, loaded when it is called.
 */
const commandLine = {
  input: { main: 'src/cli/main.ts' },
  external,
  treeshake,
  plugins: [
    inspectorPage(),
    typescript,
    nodeResolve({ exportConditions: ['node'] }),
    minified,
    thirdPartyLicenses,
  ],
  output: {
    dir: 'dist/cli',
    format: 'esm',
    paths,
    chunkFileNames: '[name].js',
    // What `--help` needs is one file, with the flags that commands share: each more takes a millisecond.
    manualChunks: (id, { getModuleInfo }) =>
      loads('src/cli/main.ts', id, getModuleInfo) || isSharedByRoutes(id, getModuleInfo)
        ? 'start'
        : undefined,
  },
};

/** Whether a module is loaded with a file, and not later by `import()`. */
function loads(file, id, getModuleInfo, seen = new Set([id])) {
  if (id === resolve(file)) return true;
  const importers = getModuleInfo(id).importers.filter((importer) => !seen.has(importer));
  return importers.some((importer) => loads(file, importer, getModuleInfo, seen.add(importer)));
}

/** Whether several commands take a module to say how they are called. */
function isSharedByRoutes(id, getModuleInfo) {
  return id.includes('/src/cli/routes/') && getModuleInfo(id).importers.length > 1;
}

export default [library, commandLine];
