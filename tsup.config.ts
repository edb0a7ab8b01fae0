import { defineConfig } from 'tsup';

/** The declarations; rollup.config.js makes the code. */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    inbox: 'src/inbox/index.ts',
    'inbox-sqlite': 'src/inbox/sqlite/index.ts',
    'inbox-bullmq': 'src/inbox/bullmq/index.ts',
    'inbox-pg-boss': 'src/inbox/pg-boss/index.ts',
    store: 'src/store/index.ts',
    'store-sqlite': 'src/store/sqlite/index.ts',
    rotation: 'src/rotation/index.ts',
    'store-redis': 'src/store/redis/index.ts',
    'store-postgres': 'src/store/postgres/index.ts',
    orders: 'src/orders/index.ts',
    otp: 'src/otp/index.ts',
    bulk: 'src/bulk/index.ts',
    diagnostics: 'src/diagnostics/index.ts',
    sandbox: 'src/sandbox/index.ts',
    testing: 'src/testing/index.ts',
  },
  format: 'esm',
  dts: { only: true },
});
