import { defineConfig } from 'tsup';

export default defineConfig({
  format: 'esm',
  target: 'node22',
  platform: 'node',
  sourcemap: true,
  entry: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    inbox: 'src/inbox/index.ts',
    'inbox-sqlite': 'src/inbox/sqlite/index.ts',
    'inbox-bullmq': 'src/inbox/bullmq/index.ts',
    'inbox-pg-boss': 'src/inbox/pg-boss/index.ts',
    diagnostics: 'src/diagnostics/index.ts',
    sandbox: 'src/sandbox/index.ts',
  },
  // One copy of every class across entries: without shared chunks `instanceof` breaks.
  splitting: true,
  // tsup would turn node:sqlite into sqlite, which does not exist.
  removeNodeProtocol: false,
  // `build:js` leaves the declarations of a whole build in place.
  clean: process.argv.includes('--no-dts') ? ['!**/*.d.ts'] : true,
  dts: !process.argv.includes('--no-dts'),
});
