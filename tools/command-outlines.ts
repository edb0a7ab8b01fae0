import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** Replaces the module of outlines by what the commands say of themselves, so that `--help` need not load them. */
export const commandOutlines: Plugin = {
  name: 'command-outlines',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/devtools\/cli\/commands\/command-outlines\.ts$/ }, async () => {
      // By its address: tsup bundles this file, and would bundle every command with it.
      const commandLine = pathToFileURL('src/devtools/cli/run.ts').href;
      const { outlineCommands }: typeof import('../src/devtools/cli/run.ts') = await import(commandLine);
      return { contents: `export const commandOutlines = ${JSON.stringify(await outlineCommands())};` };
    });
  },
};
