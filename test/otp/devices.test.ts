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

describe('several devices', () => {
  it('take turns', async () => {
    const { issue, sent } = setUp(3);
    for (let message = 0; message < 6; message++) await issue();
    expect(sent()).toEqual([2, 2, 2]);
  });

  it.each([
    ['refuses', deviceRefused],
    ['is not connected', () => requestError('refused', { status: 409 })],
    ['is not reached', notSent],
    ['has no API key', () => new ConfigurationError('not_configured', 'no key')],
  ])('leave one out for a minute that %s, and the next one sends the message', async (_, failure) => {
    const { issue, sent, devices, clock } = setUp(2);
    devices[0]?.failures.push(failure());
    await issue();
    expect(sent()).toEqual([0, 1]);
    clock.at += 59_999;
    for (let message = 0; message < 4; message++) await issue();
    expect(sent()).toEqual([0, 5]);
    clock.at += 1;
    for (let message = 0; message < 4; message++) await issue();
    expect(sent()).toEqual([2, 7]);
  });

  it('leave one with too many messages out for as long as the service asks', async () => {
    const { issue, sent, devices, clock } = setUp(2);
    devices[0]?.failures.push(requestError('refused', { status: 429, retryAfterMs: 300_000 }));
    await issue();
    clock.at += 299_999;
    for (let message = 0; message < 4; message++) await issue();
    expect(sent()).toEqual([0, 5]);
    clock.at += 1;
    for (let message = 0; message < 2; message++) await issue();
    expect(sent()).toEqual([1, 6]);
  });

  it('leave one out for ten minutes at most, however long the service asks', async () => {
    const { issue, sent, devices, clock } = setUp(2);
    devices[0]?.failures.push(requestError('refused', { status: 429, retryAfterMs: 86_400_000 }));
    await issue();
    clock.at += 600_000;
    for (let message = 0; message < 2; message++) await issue();
    expect(sent()).toEqual([1, 2]);
  });

  it('are not tried after an unknown outcome, or the person might get two messages', async () => {
    const { issue, devices, sent } = setUp(2);
    devices[0]?.failures.push(unknown());
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
    expect(sent()).toEqual([1, 0]);
    devices[1]?.failures.push(new TypeError('not an error of ours'));
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
    expect(sent()).toEqual([1, 0]);
  });

  it('are not tried after the service refused the phone number', async () => {
    const { issue, devices, sent } = setUp(2);
    devices[0]?.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'refused' });
    expect(sent()).toEqual([0, 0]);
    // And the device is not to blame.
    await issue();
    await issue();
    expect(sent()).toEqual([1, 1]);
  });

  it.each([
    ['a page', '<html><title>404: No such number of pages</title></html>'],
    ['the JSON of a router', { statusCode: 404, message: 'Cannot POST /v2/send', error: 'Not Found' }],
    ['nothing', undefined],
  ])(
    'are to blame for a 404 with %s, which is about the address: the number has no cool-down',
    async (_, body) => {
      const { issue, devices } = setUp(1, { coolDownMs: [60_000] });
      devices[0]?.failures.push(requestError('refused', { status: 404, body }));
      expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
      expect(await issue()).toMatchObject({ delivery: 'sent' });
    },
  );

  it.each([
    ['refused', { error: 'phone number not found' }],
    ['refused', { error: { code: 'NUMBER_NOT_ON_MESSENGER' } }],
    ['not_sent', { error: 'Not Found', message: 'Cannot POST /send-messages/send' }],
    ['not_sent', 'Error number 404'],
  ])('are told from the number by the 404 of a MessengerClient: %s for %j', async (code, body) => {
    const messenger = new MessengerClient({
      deployment: defineDeployment({ messengerBaseUrl: 'https://messenger.example' }),
      apiKey: 'key',
      fetch: async () => Response.json(body, { status: 404 }),
    });
    const otp = createOtp({ messenger, store: memoryStore(), secrets: [secret], allowedPrefixes: ['+234'] });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code });
  });

  it('that all fail are an error that says so, and all are tried again', async () => {
    const { issue, devices, sent } = setUp(2);
    for (const device of devices) device.failures.push(deviceRefused());
    expect(await rejected(issue())).toMatchObject({
      code: 'not_sent',
      message: expect.stringContaining('No device could send the code'),
      cause: { message: expect.stringContaining('sendMessage: refused.') },
    });
    await issue();
    await issue();
    expect(sent()).toEqual([1, 1]);
  });

  it('are left out no longer when the clock is set back', async () => {
    const { issue, devices, sent, clock } = setUp(2);
    devices[0]?.failures.push(deviceRefused());
    await issue();
    clock.at -= 86_400_000;
    await issue();
    await issue();
    expect(sent()).toEqual([1, 2]);
  });

  it('take a function that says what refuses the number', async () => {
    const isNumberRefusal: OtpOptions['isNumberRefusal'] = ({ body }) =>
      JSON.stringify(body)?.includes('no_such_number') ?? false;
    const { issue, devices } = setUp(1, { isNumberRefusal });
    devices[0]?.failures.push(requestError('refused', { status: 403, body: { error: 'no_such_number' } }));
    const error = await rejected(issue());
    expect(error).toMatchObject({ code: 'refused' });
    expect(isPhoneError(error)).toBe(true);
    devices[0]?.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
  });

  it('take a function for that which throws as saying no', async () => {
    const { issue, devices, sent } = setUp(2, {
      isNumberRefusal: () => {
        throw new Error('broken');
      },
    });
    devices[0]?.failures.push(numberRefused());
    expect(await issue()).toMatchObject({ delivery: 'sent' });
    expect(sent()).toEqual([0, 1]);
  });

  it('pass on the wait that the service asks for', async () => {
    const { issue, devices } = setUp(1);
    devices[0]?.failures.push(requestError('refused', { status: 429, retryAfterMs: 7_000 }));
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent', retryAfterMs: 7_000 });
  });
});

describe('with MessengerClient', () => {
  it('sends through a device that is connected, and tells a number that is not on the messenger', async () => {
    const clock = new Clock();
    const sandbox = createSandbox({ numbersNotOnMessenger: ['+2348000000000'] });
    const fetch = (request: Request) => sandbox.fetch(request);
    const operator = new MessengerClient({ ...only(sandbox), fetch, masterKey: sandbox.masterKey });
    const keys: string[] = [];
    for (const messenger_device_no of ['1', '2']) {
      const { body } = await operator.generateApiKey({ messenger_device_no });
      // The sandbox's own form of the reply.
      keys.push((body as { api_key: string }).api_key);
    }
    await sandbox.fetch(operator.scanDeviceUrl({ api_key: keys[1] }));
    const messenger = ['API-X-revoked', ...keys].map(
      (apiKey) => new MessengerClient({ ...only(sandbox), fetch, apiKey }),
    );
    const otp = createOtp({
      messenger,
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

  function only({ deployment }: ReturnType<typeof createSandbox>) {
    return { deployment };
  }
});

function setUp(count: number, options: Partial<OtpOptions> = {}) {
  const clock = new Clock();
  const devices = Array.from({ length: count }, () => new FakeMessenger());
  let number = 10_000_000;
  const otp = createOtp({
    messenger: devices,
    store: memoryStore({ now: clock.now }),
    secrets: [secret],
    allowedPrefixes: 'any',
    now: clock.now,
    ...options,
  });
  return {
    clock,
    devices,
    issue: () => otp.issue({ to_phone: `+23480${number++}`, purpose }),
    sent: () => devices.map(({ messages }) => messages.length),
  };
}
