/** For a script: send a text to everybody in a file, stop in the middle, and go on without sending twice. */
import assert from 'node:assert/strict';
import { MessengerClient } from 'partner-exchange-sdk';
import { readBulkCsv, sendBulk } from 'partner-exchange-sdk/bulk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { memoryStore } from 'partner-exchange-sdk/store';

// In production: readEnvironment(), and a store that lasts, such as sqliteStore({ path }).
const sandbox = createSandbox();
const { deployment, fetch } = sandbox;
const store = memoryStore();
const messenger = new MessengerClient({ deployment, fetch, apiKey: await pairDevice('1001') });

const file = `id,Mobile,Name
c-1,+234 801 234 5001,Ada
c-2,+234 801 234 5002,Bola
c-3,+234 (0)801 234 5001,Ada again
c-4,not a number,Chidi
c-5,+234 801 234 5005,Dayo
`;

function campaign() {
  const rows = readBulkCsv(file, {
    columns: { to_phone: 'Mobile', key: 'id' },
    template: 'Dear {Name}, we are away on Sunday.',
  });
  return sendBulk({ messenger, store, rows, campaign: 'sunday', messagesPerSecond: 100 });
}

const first = campaign();
for await (const { key, state } of first) {
  console.log(key, state);
  if (key === 'c-2') first.stop();
}
console.log('Stopped. The same again:');
for await (const { key, state, replayed, problem } of campaign()) {
  console.log(key, state, replayed ? '(by the first run)' : '', problem ?? '');
}
assert.deepEqual(
  sandbox.messages.map(({ message }) => message),
  ['Ada', 'Bola', 'Dayo'].map((name) => `Dear ${name}, we are away on Sunday.`),
);

async function pairDevice(messenger_device_no: string): Promise<string> {
  const operator = new MessengerClient({ deployment, fetch, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no });
  // The sandbox's own choice of reply: with a real service, give the call a schema.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}
