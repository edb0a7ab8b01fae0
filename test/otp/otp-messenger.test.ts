import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MessengerClient, type MessengerClientOptions } from '../../src/client/messenger-client.ts';
import {
  ConfigurationError,
  isOtpError,
  isPhoneError,
  isRequestError,
  type OtpError,
  RequestError,
  ValidationError,
} from '../../src/errors/errors.ts';
import type { OtpMessenger } from '../../src/otp/otp-messenger.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { apiKey, deploymentAt } from '../client/clients.ts';
import { rejected } from '../support/refusal.ts';
import {
  deviceRefused,
  memoryOtp,
  notSent,
  numberRefused,
  phone,
  purpose,
  requestError,
  unknown,
} from './support.ts';

const service = 'https://messenger.example';

function setUp(options: Partial<OtpOptions> = {}) {
  const { otp, messenger } = memoryOtp({ cooldownMs: 0, ...options });
  return { messenger, issue: () => otp.issue({ to_phone: phone, purpose }) };
}

/** The error of a code that this messenger does not send. */
async function failureOf(messenger: OtpMessenger): Promise<OtpError> {
  const error = await rejected(setUp({ messenger }).issue());
  if (!isOtpError(error)) throw error;
  return error;
}

/** A real client over a service that answers so. */
function client(fetch: MessengerClientOptions['fetch'], options: Partial<MessengerClientOptions> = {}) {
  return new MessengerClient({
    deployment: deploymentAt(service),
    apiKey,
    maxAttempts: 1,
    fetch,
    ...options,
  });
}

const answering = (status: number, body: unknown) => async () => Response.json(body, { status });
const refusing = async () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 198.51.100.7:443'), { code: 'ECONNREFUSED' });
  throw new TypeError('fetch failed', { cause });
};

describe('the messenger', () => {
  it.each([
    ['refuses the device', deviceRefused],
    ['is not connected', () => requestError('refused', { status: 409 })],
    ['is not reached', notSent],
    ['has no API key', () => new ConfigurationError('not_configured', 'no key')],
    [
      'answers 404 with a page',
      () => requestError('refused', { status: 404, body: '<html>No number</html>' }),
    ],
  ])('that %s has sent nothing: nothing is counted, and the next code is sent', async (_, failure) => {
    const { issue, messenger } = setUp({ cooldownMs: 60_000 });
    messenger.failures.push(failure());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
    expect(await issue()).toMatchObject({ delivery: 'sent' });
  });

  it('that breaks the connection, or throws anything else, may have sent the code', async () => {
    const { issue, messenger } = setUp();
    messenger.failures.push(unknown(), new TypeError('not an error of ours'));
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
    expect(await issue()).toMatchObject({ delivery: 'unknown' });
  });

  it.each([
    [404, 'refused', { error: 'phone number not found' }],
    [404, 'refused', { error: { code: 'NUMBER_NOT_ON_MESSENGER' } }],
    [404, 'not_sent', { error: 'Not Found', message: 'Cannot POST /send-messages/send' }],
    [404, 'not_sent', 'Error number 404'],
    [422, 'refused', { error: 'no' }],
    [400, 'refused', { error: 'no' }],
    [410, 'refused', { error: 'no' }],
    [403, 'not_sent', { error: 'no' }],
  ])('is told from the number by a reply %i: %s for %j', async (status, code, body) => {
    expect(await failureOf(client(answering(status, body)))).toMatchObject({ code });
  });

  it('is told from the number by isNumberRefusal, which says no where it throws', async () => {
    const isNumberRefusal: OtpOptions['isNumberRefusal'] = ({ body }) => {
      if (body === undefined) throw new Error('broken');
      return JSON.stringify(body).includes('no_such_number');
    };
    const { issue, messenger } = setUp({ isNumberRefusal });
    messenger.failures.push(requestError('refused', { status: 403, body: { error: 'no_such_number' } }));
    const error = await rejected(issue());
    expect(error).toMatchObject({ code: 'refused' });
    expect(isPhoneError(error)).toBe(true);
    messenger.failures.push(numberRefused());
    expect(await rejected(issue())).toMatchObject({ code: 'not_sent' });
  });
});

describe('the error of a code that was not sent', () => {
  it.each([
    {
      what: 'a device that is not paired',
      fetch: answering(409, { error: 'device_not_connected' }),
      says: /\(status 409\): "device_not_connected".* Likely: the device is not connected/,
      cause: { outcome: 'refused', status: 409 },
    },
    {
      what: 'a dead host',
      fetch: refusing,
      says: /no connection could be made \(connect ECONNREFUSED 198\.51\.100\.7:443\).* safe to repeat/,
      cause: { outcome: 'not-sent', code: 'connection_failed' },
    },
  ])('tells $what, and its cause is the error of the request', async ({ fetch, says, cause }) => {
    const error = await failureOf(client(fetch));
    expect(error).toMatchObject({ code: 'not_sent', cause });
    expect(error.message).toMatch(
      /^The device did not send the code(?:, and nothing was counted)?: sendMessage: /,
    );
    expect(error.message).toMatch(says);
    expect(isRequestError(error.cause)).toBe(true);
  });

  it('holds no code, no key and no number, whatever the service repeats', async () => {
    const echoing: MessengerClientOptions['fetch'] = async (request) => {
      const sent = await request.text();
      const { to_phone, message, api_key } = JSON.parse(sent);
      const code = /\d{6}/.exec(message)?.[0] ?? '';
      const said = `${api_key} cannot send ${code} to ${to_phone}`;
      const body = { message: said, request: JSON.parse(sent), code: Number(code), also: btoa(sent) };
      return Response.json(body, { status: 409, headers: { 'x-echo': to_phone } });
    };
    const error = await failureOf(client(echoing));
    expect(inspect(error, { showHidden: true, depth: 20 })).not.toMatch(/\d{6}|2345678|api-x/i);
  });

  it.each<[string, (message: string) => Error]>([
    ['its message', (message) => new ConfigurationError('not_configured', `cannot send ${message}`)],
    [
      'its cause',
      (message) =>
        new ConfigurationError('not_configured', 'cannot send', { cause: new Error(`sent ${message}`) }),
    ],
    ['an issue', (message) => new ValidationError('sendMessage', [{ path: [message], message: 'is wrong' }])],
    [
      'its body and headers',
      (message) =>
        new RequestError('http_error', `failed for ${phone}`, {
          ...{ operation: 'sendMessage', method: 'POST', url: service, status: 401, outcome: 'refused' },
          ...{ headers: new Headers({ 'x-code': message }), body: { message }, retryAfterMs: 7_000 },
        }),
    ],
  ])('holds no code when the error of a messenger of your own has it in %s', async (where, failure) => {
    let code = '';
    const error = await failureOf({
      async sendMessage({ message }) {
        code = /\d{6}/.exec(message)?.[0] ?? '';
        throw failure(message);
      },
    });
    expect(code).toMatch(/^\d{6}$/);
    const isRequest = where === 'its body and headers';
    expect(error).toMatchObject({ code: 'not_sent', ...(isRequest && { retryAfterMs: 7_000 }) });
    const printed = inspect(error, { showHidden: true, depth: 20 });
    for (const hidden of [code, phone.slice(1)]) expect(printed).not.toContain(hidden);
  });
});
