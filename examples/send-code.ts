/** For a script: generate a messenger key, pair the device, send a one-time code. */
import { randomInt } from 'node:crypto';
import { MessengerClient } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';

const sandbox = createSandbox({ paths: { checkNumber: '/numbers/check' } });
const { deployment, close } = await sandbox.listen();

const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey });
const { body } = await operator.generateApiKey({ messenger_device_no: '1001' });
// The sandbox's own choice of reply: with a real service, give the call a schema.
const { api_key: apiKey } = body as { api_key: string };

const messenger = new MessengerClient({ deployment, apiKey });
// Show this address to the device's owner, to be opened in a browser; here the script opens it.
await fetch(messenger.scanDeviceUrl());

const phone = '+2348012345678';
console.log('on the messenger?', (await messenger.checkNumber({ to_phone: phone })).body);

const code = String(randomInt(1_000_000)).padStart(6, '0');
const reply = await messenger.sendMessage({ to_phone: phone, message: `Your code is ${code}` });
console.log('sent', reply.status, reply.body);

await close();
