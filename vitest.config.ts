import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', '**/node_modules/**'],
    testTimeout: 20_000,
    globalSetup: 'test/support/global-setup.ts',
    // They are emitted, and tested, but a hundred of them printed would hide what fails.
    execArgv: ['--disable-warning=PartnerExchangeWarning'],
  },
});
