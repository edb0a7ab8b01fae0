import { describe, expect, it } from 'vitest';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { ConfigurationError, isPhoneError } from '../../src/errors/errors.ts';
import { createOtp } from '../../src/otp/create-otp.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { rejected } from '../support/refusal.ts';
import {
  Clock,
  deviceRefused,
  FakeMessenger,
  notSent,
  numberRefused,
  phone,
  purpose,
  requestError,
  secret,
  unknown,
} from './support.ts';

describe('the messenger', () => {
  it.each([
    ['refuses the device', deviceRefused],
    ['is not connected', () => requestError('refused', { status: 409 })],
    ['is not reached', notSent],
    ['has no API key', () => new ConfigurationError('not_configured', 'no key')],
  ])('that %s has sent nothing: nothing is counted, and the next code is sent', async (_, failure) => {
    const { issue, messenger } = setUp({ coolDownMs: [60_000] });
    messenger.failures.push(failure());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
    expect(await issue()).toMatchObject({ delivery: 'sent' });
  });

  it('that breaks the connection may have sent the code, which stays valid', async () => {
    const { issue, messenger } = setUp();
    messenger.failures.push(unknown(), new TypeError('not an error of ours'));
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
  });

  it('that refuses the phone number is not to blame', async () => {
    const { issue, messenger } = setUp();
    messenger.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'refused' });
  });

  it.each([
    ['a page', '<html><title>404: No such number of pages</title></html>'],
    ['the JSON of a router', { statusCode: 404, message: 'Cannot POST /v2/send', error: 'Not Found' }],
    ['nothing', undefined],
  ])(
    'is to blame for a 404 with %s, which is about the address: the number has no cool-down',
    async (_, body) => {
      const { issue, messenger } = setUp({ coolDownMs: [60_000] });
      messenger.failures.push(requestError('refused', { status: 404, body }));
      expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
      expect(await issue()).toMatchObject({ delivery: 'sent' });
    },
  );

  it.each([
    ['refused', { error: 'phone number not found' }],
    ['refused', { error: { code: 'NUMBER_NOT_ON_MESSENGER' } }],
    ['not_sent', { error: 'Not Found', message: 'Cannot POST /send-messages/send' }],
    ['not_sent', 'Error number 404'],
  ])('is told from the number by the 404 of a MessengerClient: %s for %j', async (code, body) => {
    const messenger = new MessengerClient({
      deployment: defineDeployment({ messengerBaseUrl: 'https://messenger.example' }),
      apiKey: 'key',
      fetch: async () => Response.json(body, { status: 404 }),
    });
    const otp = createOtp({ messenger, store: memoryStore(), secrets: [secret], allowedPrefixes: ['+234'] });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code });
  });

  it('that fails is named in the error', async () => {
    const { issue, messenger } = setUp();
    messenger.failures.push(deviceRefused());
    expect(await rejected(issue())).toMatchObject({
      code: 'not_sent',
      message: expect.stringContaining('The device did not send the code'),
      cause: { message: expect.stringContaining('sendMessage: refused.') },
    });
  });

  it('takes a function that says what refuses the number', async () => {
    const isNumberRefusal: OtpOptions['isNumberRefusal'] = ({ body }) =>
      JSON.stringify(body)?.includes('no_such_number') ?? false;
    const { issue, messenger } = setUp({ isNumberRefusal });
    messenger.failures.push(requestError('refused', { status: 403, body: { error: 'no_such_number' } }));
    const error = await rejected(issue());
    expect(error).toMatchObject({ code: 'refused' });
    expect(isPhoneError(error)).toBe(true);
    messenger.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
  });

  it('takes a function for that which throws as saying no', async () => {
    const { issue, messenger } = setUp({
      isNumberRefusal: () => {
        throw new Error('broken');
      },
    });
    messenger.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
  });

  it('passes on the wait that the service asks for', async () => {
    const { issue, messenger } = setUp();
    messenger.failures.push(requestError('refused', { status: 429, retryAfterMs: 7_000 }));
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent', retryAfterMs: 7_000 });
  });
});

describe('with MessengerClient', () => {
  it('sends through a device that is connected, and tells a number that is not on the messenger', async () => {
    const clock = new Clock();
    const sandbox = createSandbox({ numbersNotOnMessenger: ['+2348000000000'] });
    const { deployment } = sandbox;
    const fetch = (request: Request) => sandbox.fetch(request);
    const operator = new MessengerClient({ deployment, fetch, masterKey: sandbox.masterKey });
    const { body } = await operator.generateApiKey({ messenger_device_no: '2' });
    // The sandbox's own form of the reply.
    const apiKey = (body as { api_key: string }).api_key;
    await sandbox.fetch(operator.scanDeviceUrl({ api_key: apiKey }));
    const otp = createOtp({
      messenger: new MessengerClient({ deployment, fetch, apiKey }),
      store: memoryStore({ now: clock.now }),
      secrets: [secret],
      allowedPrefixes: ['+234'],
      now: clock.now,
    });
    const { id, delivery } = await otp.issue({ to_phone: phone, purpose });
    expect(delivery).toBe('sent');
    expect(sandbox.messages).toMatchObject([{ messenger_device_no: '2', to_phone: phone }]);
    const code = /\d{6}/.exec(sandbox.messages[0]?.message ?? '')?.[0] ?? '';
    expect(await otp.check(id, code, { purpose })).toEqual({ ok: true, to_phone: phone });
    expect(await rejected(otp.issue({ to_phone: '+2348000000000', purpose }))).toMatchObject({
      code: 'refused',
    });
  });
});

function setUp(options: Partial<OtpOptions> = {}) {
  const messenger = new FakeMessenger();
  const otp = createOtp({
    messenger,
    store: memoryStore(),
    secrets: [secret],
    allowedPrefixes: 'any',
    coolDownMs: [],
    ...options,
  });
  return { messenger, issue: () => otp.issue({ to_phone: phone, purpose }) };
}
