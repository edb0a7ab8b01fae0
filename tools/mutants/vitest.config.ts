import { defineConfig } from 'vitest/config';

/** The folder of `src` that is mutated: `run-mutants.ts` gives it. */
const folder = process.env.MUTATED_FOLDER;

export default defineConfig({
  test: {
    // One process: it keeps which mutants are dead.
    maxWorkers: 1,
    isolate: false,
    // One mutant at a time is switched on: tests that could run side by side do not.
    maxConcurrency: 1,
    runner: './tools/mutants/mutant-runner.ts',
    // The table says all.
    reporters: [{}],
    dangerouslyIgnoreUnhandledErrors: true,
    // A mutant that hangs takes this long.
    testTimeout: 5_000,
    execArgv: ['--disable-warning=PartnerExchangeWarning'],
    setupFiles: 'test/support/fresh-modules.ts',
    globalSetup: 'test/support/global-setup.ts',
    include: [`test/${folder}/**/!(*.proof|*.check).test.ts`],
    exclude: [
      // They start processes or engines: a mutant is switched on in this process alone.
      'test/inbox/{store-down,queue/queue-alone,store/killed-holder}.integration.test.ts',
      'test/store/{processes,redis/lost-records}.integration.test.ts',
      'test/webhooks/http/frameworks/{azure,fetch-frameworks,nest,node-frameworks}.integration.test.ts',
      // They count how often they have tried each way.
      'test/signature/{forgeries,scheme-forgeries}.test.ts',
    ],
  },
});
