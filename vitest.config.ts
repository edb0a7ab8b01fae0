import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { buildPage, pageModule } from './src/inspector/build-page.ts';

// The programs that tests start are compiled once, not by each process.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** The page, as the build makes it. */
const inspectorPage: Plugin = {
  name: 'inspector-page',
  enforce: 'pre',
  load: async (id) => (pageModule.test(id) ? (await buildPage()).contents : null),
  // Made of more files than its own: vitest must not keep it from an earlier run.
  configureVitest: ({ defineCacheKeyGenerator }) =>
    defineCacheKeyGenerator(({ id }) => (pageModule.test(id) ? false : undefined)),
};

/** The name of a file decides: `import-walk.test.ts` refuses unit tests that import servers, processes or databases. */
const integration = 'test/**/*.integration.test.ts';
const outside = ['test/runtimes/**', '**/node_modules/**'];

/** A process for each file would take as long again as the tests: files of a project share processes, and no modules. */
const freshModules = 'test/support/fresh-modules.ts';

export default defineConfig(({ mode }) => {
  // `vitest --mode thorough` runs what is shortened elsewhere in full: `test/support/repeat.ts`.
  if (mode === 'thorough') process.env.TEST_THOROUGH = '1';
  return {
    plugins: [inspectorPage],
    test: {
      testTimeout: 20_000,
      // Many tests wait for processes and servers: two workers a core take three quarters of the time of one.
      maxWorkers: 2 * availableParallelism(),
      // They are emitted, and tested, but a hundred of them printed would hide what fails.
      execArgv: ['--disable-warning=PartnerExchangeWarning'],
      projects: [
        {
          test: {
            name: 'unit',
            isolate: false,
            env: process.env.CI ? { TEST_THOROUGH: '1' } : {},
            setupFiles: [freshModules, 'test/support/unit-setup.ts'],
            include: ['test/**/*.test.ts'],
            exclude: [integration, ...outside],
          },
        },
        {
          test: {
            name: 'integration',
            isolate: false,
            include: [integration],
            exclude: outside,
            setupFiles: freshModules,
            globalSetup: 'test/support/global-setup.ts',
          },
        },
      ],
    },
  };
});
