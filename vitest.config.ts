import { defineConfig } from 'vitest/config';
import { inspectorPage } from './rollup.inspector.js';

export default defineConfig({
  plugins: [inspectorPage()],
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
