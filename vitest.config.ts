import { globSync, readFileSync } from 'node:fs';
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

/**
 * The name of a file decides which room runs it: `npm test` (`*.test.ts` and `*.integration.test.ts`), `npm run prove`
 * (`*.proof.test.ts`) or `npm run check` (`*.check.test.ts`). `unit-imports.check.test.ts` refuses unit tests that import servers,
 * processes or databases.
 */
const integration = 'test/**/*.integration.test.ts';
const proof = 'test/**/*.proof.test.ts';
const check = 'test/**/*.check.test.ts';
const outside = ['test/runtimes/**', '**/node_modules/**'];

/** A process for each file would take as long again as the tests: files of a project share processes, and no modules. */
const freshModules = 'test/support/fresh-modules.ts';
const onServers = {
  isolate: false,
  setupFiles: freshModules,
  globalSetup: 'test/support/global-setup.ts',
};

const everyday = [
  {
    test: {
      name: 'unit',
      isolate: false,
      setupFiles: [freshModules, 'test/support/unit-setup.ts'],
      include: ['test/**/*.test.ts'],
      exclude: [integration, proof, check, ...outside],
    },
  },
  { test: { ...onServers, name: 'integration', include: [integration], exclude: outside } },
];
const inFull = { TEST_THOROUGH: '1' };
const proofs = { test: { ...onServers, name: 'proof', include: [proof], exclude: outside } };
const checks = {
  test: {
    ...onServers,
    name: 'check',
    include: [check],
    exclude: [...outside, ...(process.env.TEST_BINARY ? [] : ['test/devtools/cli/binary.check.test.ts'])],
  },
};
const pictures = {
  test: { ...onServers, name: 'pictures', include: ['test/devtools/inspector/pictures.ts'] },
};

/** By `--mode`. */
const rooms = {
  prove: () => [{ test: { ...proofs.test, env: inFull } }, everydayInFull()],
  'prove-shortly': () => [proofs, everydayInFull()],
  check: () => [checks],
  pictures: () => [pictures],
  all: () => [...everyday, proofs, checks],
};

export default defineConfig(({ mode }) => ({
  plugins: [inspectorPage],
  test: {
    // A hang, not a speed: a busy machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A line for each file.
    slowTestThreshold: 60_000,
    silent: 'passed-only' as const,
    reporters: ['default', 'test/support/totals-reporter.ts'],
    // Many tests wait for processes and servers: two workers a core take three quarters of the time of one.
    maxWorkers: 2 * availableParallelism(),
    // They are emitted, and tested, but a hundred of them printed would hide what fails.
    execArgv: ['--disable-warning=PartnerExchangeWarning'],
    projects: isRoom(mode) ? rooms[mode]() : everyday,
  },
}));

function isRoom(mode: string): mode is keyof typeof rooms {
  return Object.hasOwn(rooms, mode);
}

/** Everyday files that repeat more, or try more stores, in the length of a proof. */
function everydayInFull() {
  const include = globSync('test/**/*.test.ts', { cwd: import.meta.dirname, exclude: outside }).filter(
    (file) =>
      /support\/repeat\.ts|store-kinds\.ts/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );
  return {
    test: { ...onServers, name: 'in full', include, exclude: [proof, check, ...outside], env: inFull },
  };
}
