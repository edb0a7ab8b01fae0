import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { openStore } from '../store/open-store.ts';

/** A process of the crash suite that sends a text to many numbers, as the example does; it is killed without warning. */

// The example imports the package: here that is the sources.
registerHooks({
  resolve(specifier, context, next) {
    const [name, entry = ''] = /^partner-exchange-sdk(\/[\w/-]+)?$/.exec(specifier) ?? [];
    if (name === undefined) return next(specifier, context);
    const file = join(import.meta.dirname, `../../src${entry}/index.ts`);
    return { url: pathToFileURL(file).href, shortCircuit: true };
  },
});
const { sendToMany } = await import('../../examples/support/send-to-many.ts');

const [
  engine = '',
  address = '',
  storeName = '',
  messengerBaseUrl = '',
  apiKey = '',
  name = '',
  count = '0',
] = process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());

const messenger = new MessengerClient({
  deployment: defineDeployment({ messengerBaseUrl }),
  apiKey,
  timeoutMs: 1_000,
  totalTimeoutMs: 2_000,
});
const { store, close } = await openStore(engine, address, storeName);
const numbers = Array.from({ length: Number(count) }, (_, index) => `+23480${String(12_345_000 + index)}`);
for await (const result of sendToMany({ messenger, store, name, message: name, numbers, leaseMs: 3_000 }))
  process.send?.(result);
process.send?.({ finished: true });
await close();
process.disconnect();
