import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { buildPage, pageModule } from './tools/build-page.ts';

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

/** The files that no longer run repeats in full: `npm run test:thorough` does. docs/details/development.md has the others. */
const shortened = [
  'test/cli/{strangers,transcript}.integration.test.ts',
  'test/diagnostics/**/*.integration.test.ts',
  'test/drawn/*.integration.test.ts',
  'test/http/concurrency.integration.test.ts',
  'test/inbox/sqlite/full-disk/*.integration.test.ts',
  'test/inspector/many.integration.test.ts',
  'test/orders/honest-books.integration.test.ts',
  'test/otp/otp.integration.test.ts',
  'test/store/{contract,processes}.integration.test.ts',
  'test/webhooks/forgeries.integration.test.ts',
];

/** A process for each file would take as long again as the tests: files of a project share processes, and no modules. */
const freshModules = 'test/support/fresh-modules.ts';

export default defineConfig(({ mode }) => {
  const isThorough = mode === 'thorough' || process.env.TEST_THOROUGH === 'listed';
  const inFull = { TEST_THOROUGH: '1' };
  const onServers = {
    isolate: false,
    setupFiles: freshModules,
    globalSetup: 'test/support/global-setup.ts',
  };
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
            env: isThorough || process.env.CI ? inFull : {},
            setupFiles: [freshModules, 'test/support/unit-setup.ts'],
            include: ['test/**/*.test.ts'],
            exclude: [integration, ...outside],
          },
        },
        {
          test: {
            ...onServers,
            name: 'integration',
            include: [integration],
            exclude: isThorough ? [...outside, ...shortened] : outside,
          },
        },
        ...(isThorough ? [{ test: { ...onServers, name: 'in full', env: inFull, include: shortened } }] : []),
      ],
    },
  };
});
