import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MessengerClient, type MessengerClientOptions } from '../../src/client/messenger-client.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import {
  ConfigurationError,
  isConfigurationError,
  isOtpError,
  isRequestError,
  type OtpError,
  RequestError,
  ValidationError,
} from '../../src/errors/errors.ts';
import type { OtpMessenger } from '../../src/otp/otp-messenger.ts';
import type { OtpReport } from '../../src/otp/otp-report.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { apiKey, deploymentAt } from '../client/clients.ts';
import { rejected } from '../support/refusal.ts';
import { Clock, otpOn, phone, purpose } from './support.ts';

const service = 'https://messenger.example';

/** What becomes of one code that is sent through these messengers. */
async function issued(messenger: OtpMessenger) {
  const clock = new Clock();
  const reports: OtpReport[] = [];
  const { otp } = otpOn(memoryStore({ now: clock.now }), clock, {
    messenger,
    onOtp: (report) => reports.push(report),
  });
  const error = await rejected(otp.issue({ to_phone: phone, purpose }));
  if (!isOtpError(error)) throw error;
  return { error, report: reports[0] };
}

/** A real client over a service that answers so. */
function client(fetch: MessengerClientOptions['fetch'], options: Partial<MessengerClientOptions> = {}) {
  const deployment = deploymentAt(service);
  return new MessengerClient({ deployment, apiKey, maxAttempts: 1, fetch, ...options });
}

const answering = (status: number, body: object) => async () => Response.json(body, { status });
const refusing = async () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 198.51.100.7:443'), { code: 'ECONNREFUSED' });
  throw new TypeError('fetch failed', { cause });
};

describe('the error of a code that was not sent', () => {
  it.each([
    {
      what: 'a device that is not paired',
      fetch: answering(409, { error: 'device_not_connected' }),
      says: /\(status 409\): "device_not_connected".* Likely: the device is not connected/,
      reported: { messengerOutcome: 'refused', messengerCode: 'http_error', messengerStatus: 409 },
    },
    {
      what: 'a wrong key',
      fetch: answering(401, { message: 'Unauthorized' }),
      says: /\(status 401\): "Unauthorized".* Likely: the API key is not known/,
      reported: { messengerOutcome: 'refused', messengerCode: 'http_error', messengerStatus: 401 },
    },
    {
      what: 'a dead host',
      fetch: refusing,
      says: /no connection could be made \(connect ECONNREFUSED 198\.51\.100\.7:443\).* safe to repeat/,
      reported: { messengerOutcome: 'not-sent', messengerCode: 'connection_failed' },
    },
  ])('tells $what, and its cause says what the request came to', async ({ fetch, says, reported }) => {
    const { error, report } = await issued(client(fetch));
    expect(error).toMatchObject({ code: 'not_sent' });
    expect(error.message).toMatch(
      /^The device did not send the code(?:, and nothing was counted)?: sendMessage: /,
    );
    expect(error.message).toMatch(says);
    expect(isRequestError(error.cause)).toBe(true);
    expect(error.cause).toMatchObject({
      outcome: reported.messengerOutcome,
      ...('messengerStatus' in reported && { status: reported.messengerStatus }),
    });
    expect(report).toMatchObject({ outcome: 'not_sent', ...reported });
  });

  it('tells a missing key', async () => {
    const { error, report } = await issued(client(answering(200, {}), { apiKey: undefined }));
    expect(error.message).toContain('sendMessage needs an API key');
    expect(isConfigurationError(error.cause)).toBe(true);
    expect(report).toMatchObject({ messengerOutcome: 'not-sent', messengerCode: 'not_configured' });
  });

  it('tells why a number was refused', async () => {
    const { error, report } = await issued(client(answering(422, { error: 'number_not_on_messenger' })));
    expect(error.code).toBe('refused');
    expect(error.message).toMatch(/does not take this phone number.*"number_not_on_messenger".*to_phone/);
    expect(error.cause).toMatchObject({ outcome: 'refused', status: 422 });
    expect(report).toMatchObject({ outcome: 'refused', messengerOutcome: 'refused', messengerStatus: 422 });
  });

  it('holds no code, no key and no number, whatever the service repeats', async () => {
    const echoing: MessengerClientOptions['fetch'] = async (request) => {
      const sent = await request.text();
      const { to_phone, message, api_key } = JSON.parse(sent);
      const code = /\d{6}/.exec(message)?.[0] ?? '';
      return Response.json(
        {
          message: `${api_key} cannot send ${code} to ${to_phone}`,
          request: JSON.parse(sent),
          code: Number(code),
          also: btoa(sent),
        },
        { status: 409, headers: { 'x-echo': to_phone } },
      );
    };
    const { error } = await issued(client(echoing));
    expect(inspect(error, { showHidden: true, depth: 20 })).not.toMatch(/\d{6}|2345678|api-x/i);
  });

  it.each([
    ['its message', (message: string) => new ConfigurationError('not_configured', `cannot send ${message}`)],
    [
      'its cause',
      (message: string) =>
        new ConfigurationError('not_configured', 'cannot send', { cause: new Error(`sent ${message}`) }),
    ],
    [
      'an issue',
      (message: string) => new ValidationError('sendMessage', [{ path: [message], message: 'is wrong' }]),
    ],
  ])('holds no code when an error of another kind has it in %s', async (_, failure) => {
    let code = '';
    const messenger: OtpMessenger = {
      async sendMessage({ message }) {
        code = /\d{6}/.exec(message)?.[0] ?? '';
        throw failure(message);
      },
    };
    const { error } = await issued(messenger);
    expect(error).toMatchObject({ code: 'not_sent' });
    expect(code).toMatch(/^\d{6}$/);
    expect(inspect(error, { showHidden: true, depth: 20 })).not.toContain(code);
  });

  it('has a cause without its texts and its reply where a messenger of your own repeats the code', async () => {
    let code = '';
    const messenger: OtpMessenger = {
      async sendMessage({ to_phone, message }) {
        code = /\d{6}/.exec(message)?.[0] ?? '';
        const headers = new Headers({ 'x-code': code });
        const details = { operation: 'sendMessage', method: 'POST', url: service, status: 401, headers };
        throw new RequestError('http_error', `failed: ${message} for ${to_phone}`, {
          ...details,
          outcome: 'refused',
          body: { message },
          retryAfterMs: 7_000,
        });
      },
    };
    const { error, report } = await issued(messenger);
    expect(error.cause).toMatchObject({ name: 'RequestError', code: 'http_error' });
    expect(error.retryAfterMs).toBe(7_000);
    expect(report).toMatchObject({ messengerOutcome: 'refused', messengerStatus: 401 });
    for (const secret of [code, phone.slice(1)]) {
      expect(inspect(error, { showHidden: true, depth: 20 })).not.toContain(secret);
    }
  });
});

it('onOtp reports what the messenger said of a code that was sent, and of one that may have been', async () => {
  const clock = new Clock();
  const reports: OtpReport[] = [];
  const { otp, messenger } = otpOn(memoryStore({ now: clock.now }), clock, {
    coolDownMs: [],
    onOtp: (report) => reports.push(report),
  });
  await otp.issue({ to_phone: phone, purpose });
  messenger.failures.push(new TypeError('not an error of ours'));
  await otp.issue({ to_phone: phone, purpose });
  expect(reports).toMatchObject([
    { outcome: 'sent', messengerOutcome: 'sent' },
    { outcome: 'unknown', messengerOutcome: 'unknown' },
  ]);
});

it('a device of the sandbox that is not connected reads otherwise than a key that it does not know', async () => {
  const { deployment, masterKey, ...sandbox } = createSandbox();
  const fetch = (request: Request) => sandbox.fetch(request);
  const { body } = await new MessengerClient({ deployment, masterKey, fetch }).generateApiKey({
    messenger_device_no: '1',
  });
  // The sandbox's own form of the reply.
  const known = (body as { api_key: string }).api_key;
  const errors: OtpError[] = [];
  for (const key of [known, 'API-X-unknown']) {
    errors.push((await issued(new MessengerClient({ deployment, apiKey: key, fetch }))).error);
  }
  expect(errors.map(({ message }) => /Likely: (.*?)\. See /.exec(message)?.[1])).toEqual([
    'the device is not connected',
    'the API key is not known',
  ]);
});
