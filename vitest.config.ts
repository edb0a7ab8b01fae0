import { defineConfig, type Plugin } from 'vitest/config';
import { buildPage, pageModule } from './src/inspector/build-page.ts';

/** The page, as the build makes it. */
const inspectorPage: Plugin = {
  name: 'inspector-page',
  enforce: 'pre',
  load: async (id) => (pageModule.test(id) ? (await buildPage()).contents : null),
  // Made of more files than its own: vitest must not keep it from an earlier run.
  configureVitest: ({ defineCacheKeyGenerator }) =>
    defineCacheKeyGenerator(({ id }) => (pageModule.test(id) ? false : undefined)),
};

export default defineConfig({
  plugins: [inspectorPage],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', '**/node_modules/**'],
    testTimeout: 20_000,
    // By default one core is left idle, which on a machine of two doubles the time.
    maxWorkers: '100%',
    globalSetup: 'test/support/global-setup.ts',
    // They are emitted, and tested, but a hundred of them printed would hide what fails.
    execArgv: ['--disable-warning=PartnerExchangeWarning'],
  },
});
