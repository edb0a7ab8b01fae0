import { defineConfig } from 'tsup';

// `build:js` is for running the examples: quick, and it leaves the declarations of a whole build in place.
const whole = !process.argv.includes('--no-dts');

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
  clean: whole || ['!**/*.d.ts'],
  dts: whole,
  removeNodeProtocol: false,
});
