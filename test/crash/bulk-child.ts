import { sendBulk } from '../../src/bulk/send-bulk.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { openStore } from '../store/open-store.ts';

/** A process of the crash suite that sends a campaign; it is killed without warning. */

const [engine = '', address = '', name = '', messengerBaseUrl = '', apiKey = '', campaign = '', count = '0'] =
  process.argv.slice(2);
// Do not outlive the parent.
process.on('disconnect', () => process.exit());

const messenger = new MessengerClient({
  deployment: defineDeployment({ messengerBaseUrl }),
  apiKey,
  timeoutMs: 400,
  totalTimeoutMs: 900,
});
const { store, close } = await openStore(engine, address, name);
const rows = Array.from({ length: Number(count) }, (_, index) => ({
  to_phone: `+23480${String(12_345_000 + index)}`,
  message: `${campaign} ${index}`,
}));
const run = sendBulk({
  messenger,
  rows,
  store,
  campaign,
  messagesPerSecond: 100,
  concurrency: 2,
  stopAfterFailures: 1000,
  leaseMs: 1000,
});
for await (const { key, state, replayed } of run) process.send?.({ key, state, replayed });
process.send?.({ finished: true });
await close();
process.disconnect();
