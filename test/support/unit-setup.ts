import { subscribe } from 'node:diagnostics_channel';

/** What Node tells of: `unit-imports.check.test.ts` refuses the imports, and this what `src` starts by itself. */
const channels = ['tracing:net.server.listen:asyncStart', 'net.client.socket', 'child_process'];
// Once a process.
const mark = Symbol.for('partner-exchange-tests.watched');
if (!Reflect.has(globalThis, mark)) {
  Reflect.set(globalThis, mark, true);
  for (const channel of channels) {
    subscribe(channel, () => {
      throw new Error(`A unit test uses ${channel}: name it .integration.test.ts.`);
    });
  }
}
