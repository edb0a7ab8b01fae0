/**
 * For a script: once, generate a messenger key and pair the device; each time, send a message. Codes that somebody types
 * in again are better left to `createOtp`: see otp-sign-in.ts.
 */
import { randomInt } from 'node:crypto';
import { isRequestError, MessengerClient } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';

// In production: defineDeployment({ … }), with paths.checkNumber if you need the number check.
const sandbox = createSandbox({
  deployment: { paths: { checkNumber: '/numbers/check' } },
  numbersNotOnMessenger: ['+2348000000000'],
});
const { deployment, close } = await sandbox.listen();

const apiKey = await setUpDevice('1001');
const messenger = new MessengerClient({ deployment, apiKey });
await sendCode('+2348012345678');
await sendCode('+2348000000000');
await close();

/** Once for each device. Keep the key: nothing shows it again, and a second one is refused. */
async function setUpDevice(messenger_device_no: string): Promise<string> {
  const operator = new MessengerClient({ deployment, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no });
  // The sandbox's own choice of reply: with a real service, give the call a schema.
  const { api_key } = body as { api_key: string };
  // Show this address to the device's owner, to be opened in a browser; here the script opens it.
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}

/** Each time. */
async function sendCode(to_phone: string): Promise<void> {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  try {
    console.log('on the messenger?', (await messenger.checkNumber({ to_phone })).body);
    const reply = await messenger.sendMessage({ to_phone, message: `Your code is ${code}` });
    console.log('sent', reply.status, reply.body);
  } catch (error) {
    if (!isRequestError(error)) throw error;
    // 'unknown': the code may have arrived, so have the next one replace it.
    console.log(`${error.outcome}:`, error.message);
  }
}
