import { defineConfig } from 'vitest/config';

/** Which folders of `src` are mutated: `run-mutants.ts` gives them. */
const folders = (process.env.MUTANTS ?? '').split(',');

/** Those integration tests that start few processes, and listen on the loopback at most. */
const inProcess = [
  'test/webhooks/http/{adapter-requests,answers,body-deadline,body-limit,fetch,http2,node,parsed-body}.integration.test.ts',
  'test/webhooks/http/frameworks/{fastify,lambda}.integration.test.ts',
  'test/webhooks/{found-credentials,inbox,refusals,refused-requests,secrecy,unrecognized}.integration.test.ts',
  'test/inbox/sqlite/sqlite-inbox.integration.test.ts',
];
const ofFolders = (files: string) => folders.some((folder) => files.startsWith(`test/${folder}/`));

export default defineConfig({
  test: {
    isolate: false,
    // A mutant that hangs takes this long: the usual limit of a test will do.
    testTimeout: 20_000,
    execArgv: ['--disable-warning=PartnerExchangeWarning'],
    setupFiles: 'test/support/fresh-modules.ts',
    // Stores that need a server are left out.
    provide: { redis: { missing: 'mutants' }, postgres: { missing: 'mutants' } },
    include: [
      ...folders.map((folder) => `test/${folder}/**/!(*.integration|*.proof|*.check).test.ts`),
      ...inProcess.filter(ofFolders),
    ],
    // They count how often they have tried each way.
    exclude: ['test/signature/{forgeries,scheme-forgeries}.test.ts'],
  },
});
