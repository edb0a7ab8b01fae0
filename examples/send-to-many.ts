/** For a script: send a text to many numbers, lose a reply, and run again without sending twice. */
import assert from 'node:assert/strict';
import { MessengerClient } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { memoryStore } from 'partner-exchange-sdk/store';
import { sendToMany } from './support/send-to-many.ts';

// In production: readEnvironment(), and a store that lasts, such as sqliteStore({ path }).
const sandbox = createSandbox();
const { deployment, fetch } = sandbox;
const messenger = new MessengerClient({ deployment, fetch, apiKey: await pairDevice('1001') });
const sending = {
  messenger,
  store: memoryStore(),
  name: 'sunday',
  message: 'Dear customer, we are away on Sunday.',
  numbers: ['+2348012345001', '+2348012345002', '+2348012345003'],
};

sandbox.faults.plan('sendMessage', 'reply_lost');
for (const run of ['first run', 'second run'])
  for await (const { to_phone, state } of sendToMany(sending)) console.log(`${run}: ${to_phone} ${state}`);
assert.deepEqual(
  sandbox.messages.map(({ to_phone }) => to_phone),
  sending.numbers,
);

async function pairDevice(messenger_device_no: string): Promise<string> {
  const operator = new MessengerClient({ deployment, fetch, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no });
  // The sandbox's own choice of reply: with a real service, give the call a schema.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}
