import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    signature: 'src/signature/index.ts',
    events: 'src/events/index.ts',
    webhooks: 'src/webhooks/index.ts',
    sandbox: 'src/sandbox/index.ts',
  },
  format: 'esm',
  target: 'node22',
  platform: 'node',
  // One copy of every class across entries: without shared chunks `instanceof` breaks.
  splitting: true,
  sourcemap: true,
  clean: true,
  dts: !process.argv.includes('--no-dts'),
  removeNodeProtocol: false,
});
