import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import { inspectorPage } from './tools/build-page.ts';
import { thirdParty } from './tools/bundled-licenses.ts';
import { commandOutlines } from './tools/command-outlines.ts';
import { entrySource } from './tools/entry-source.ts';
import { leanMaps } from './tools/lean-maps.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

/** The entries that are code, each under the name that `exports` gives it. */
const entry = Object.fromEntries(
  Object.entries<{ default?: string }>(manifest.exports)
    .filter(([, { default: built }]) => built?.endsWith('.js'))
    .map(([path, { default: built = '' }]) => [basename(built, '.js'), entrySource(path, '.')]),
);

const shared = {
  format: 'esm',
  target: 'node22',
  splitting: true,
  // node:sqlite has no other name, and Deno and Workers want the prefix everywhere.
  removeNodeProtocol: false,
  // zod itself is a dependency. Of zod/mini a user would load 90 files.
  noExternal: [/^zod\/(?:mini|locales)$/],
  esbuildPlugins: [inspectorPage, commandOutlines, thirdParty],
  esbuildOptions(options) {
    // csv-parse leaves out the prefix.
    options.alias = { stream: 'node:stream' };
    options.legalComments = 'none';
    // The load of ./webhooks keeps its budget with this alone; stack traces have the maps.
    options.minifyWhitespace = true;
    // A stack trace needs the names and lines of src, not its text.
    options.sourcesContent = false;
  },
} satisfies Options;

/** Shares no file with the library, so that no entry changes with it. Short files load sooner. */
const commandLine = {
  entry: { main: 'src/devtools/cli/main.ts' },
  outDir: 'dist/cli',
  minify: true,
  keepNames: true,
};

export default defineConfig([
  // What else is in dist is of an earlier build; declarations are written meanwhile.
  { ...shared, entry, sourcemap: true, plugins: [leanMaps], dts: true, clean: ['!**/*.d.ts', '!cli/**'] },
  { ...shared, ...commandLine, clean: true },
]);
