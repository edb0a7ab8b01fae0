import { describe, expect, it } from 'vitest';
import {
  type ApiKeyRequest,
  type MessageRequest,
  MessengerClient,
  type NumberCheckRequest,
} from '../../src/client/messenger-client.ts';
import type { DeploymentOptions } from '../../src/deployment/define-deployment.ts';
import { type LocalServer, startServer } from '../support/local-server.ts';
import { refusal, rejected } from '../support/refusal.ts';
import { apiKey, deploymentAt, masterKey, message, messengerAt } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('generateApiKey', () => {
  const device = { messenger_device_no: '42' };

  it('posts the device number with the bare master key', async () => {
    const server = await startServer({});
    await messengerAt(server.url).generateApiKey(device);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/api-keys/generate',
        headers: { authorization: masterKey, 'content-type': 'application/json' },
      },
    ]);
    expect(posted(server)).toEqual(device);
  });

  it("puts the device number under the deployment's name", async () => {
    const server = await startServer({});
    await clientWith(server, { wireNames: { messenger_device_no: 'acme_no' } }).generateApiKey(device);
    expect(posted(server)).toEqual({ acme_no: '42' });
  });

  it('without a master key is a configuration error before any request', async () => {
    const server = await startServer({});
    const client = new MessengerClient({ deployment: deploymentAt(server.url), apiKey });
    expect(await rejected(client.generateApiKey(device))).toMatchObject({ code: 'not_configured' });
    expect(server.requests).toHaveLength(0);
  });

  it.each([{}, { messenger_device_no: 42 }])(
    'names the device number when it does not fit: %j',
    async (input) => {
      const server = await startServer({});
      // What a JavaScript caller may pass.
      const error = await rejected(messengerAt(server.url).generateApiKey(input as ApiKeyRequest));
      expect(error).toMatchObject({ code: 'invalid_input', issues: [{ path: ['messenger_device_no'] }] });
      expect(server.requests).toHaveLength(0);
    },
  );
});

describe('scanDeviceUrl', () => {
  it('is the published address with the API key', () => {
    const url = messengerAt('https://messenger.example/').scanDeviceUrl();
    expect(url).toBe(`https://messenger.example/connect-msg/scan-device?api_key=${apiKey}`);
  });

  it('encodes the API key', () => {
    const odd = 'API&x=1#/?+%~';
    const url = messengerAt('https://messenger.example').scanDeviceUrl({ api_key: odd });
    expect([...new URL(url).searchParams]).toEqual([['api_key', odd]]);
    expect(new URL(url).hash).toBe('');
  });

  it('without an API key is a configuration error', () => {
    const client = new MessengerClient({ deployment: deploymentAt('https://messenger.example') });
    expect(refusal(() => client.scanDeviceUrl())).toBe('ConfigurationError not_configured');
  });

  it.each(['', 'API X'])('refuses %j for an API key', (api_key) => {
    const client = messengerAt('https://messenger.example');
    expect(refusal(() => client.scanDeviceUrl({ api_key }))).toBe('ConfigurationError invalid_credentials');
  });
});

describe('checkNumber', () => {
  const number = { to_phone: '+2348012345678' };

  it('asks by GET, with key and number in the query, and without a body', async () => {
    const server = await startServer({ body: '{"exists":true}' });
    const reply = await messengerAt(server.url).checkNumber(number);
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'GET',
      url: `/numbers/check?api_key=${apiKey}&to_phone=%2B2348012345678`,
    });
    expect(request?.headers).not.toHaveProperty('content-type');
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(request?.body).toHaveLength(0);
    expect(reply.body).toEqual({ exists: true });
  });

  it('asks with further members, and with the API key of the client', async () => {
    const server = await startServer({});
    const further = { ...number, api_key: undefined, msisdn: '7', deep: [1] };
    await messengerAt(server.url).checkNumber(further);
    expect(server.requests[0]?.url).toBe(
      `/numbers/check?api_key=${apiKey}&to_phone=%2B2348012345678&msisdn=7&deep=%5B1%5D`,
    );
  });
});

describe('sendMessage', () => {
  it('posts api_key, message and to_phone to the published path, without an Authorization header', async () => {
    const server = await startServer({});
    await messengerAt(server.url).sendMessage(message);
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/send-messages/send',
      headers: { 'content-type': 'application/json' },
    });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(posted(server)).toEqual({ ...message, api_key: apiKey });
  });

  it('passes verify_check through, and leaves it out when it is undefined', async () => {
    const server = await startServer({});
    await messengerAt(server.url).sendMessage({ ...message, verify_check: false });
    expect(posted(server)).toEqual({ ...message, api_key: apiKey, verify_check: false });
    await messengerAt(server.url).sendMessage({ ...message, verify_check: undefined });
    expect(JSON.parse(String(server.requests[1]?.body))).not.toHaveProperty('verify_check');
  });

  it('takes the API key of the call', async () => {
    const server = await startServer({});
    await messengerAt(server.url).sendMessage({ ...message, api_key: 'API-X-other' });
    expect(posted(server)).toMatchObject({ api_key: 'API-X-other' });
  });

  it('without an API key is a configuration error before any request', async () => {
    const server = await startServer({});
    const client = new MessengerClient({ deployment: deploymentAt(server.url), masterKey });
    expect(await rejected(client.sendMessage(message))).toMatchObject({ code: 'not_configured' });
    expect(server.requests).toHaveLength(0);
  });
});

describe.each(['checkNumber', 'sendMessage'] as const)('%s', (operation) => {
  it.each(['', '12', '0801 234 5678', '１２３４５６', 2348012345678, undefined])(
    'names to_phone when it is %j, and makes no request',
    async (to_phone) => {
      const server = await startServer({});
      // What a JavaScript caller may pass.
      const input = { ...message, to_phone } as MessageRequest & NumberCheckRequest;
      const error = await rejected(messengerAt(server.url)[operation](input));
      expect(error).toMatchObject({ code: 'invalid_input', issues: [{ path: ['to_phone'] }] });
      expect(server.requests).toHaveLength(0);
    },
  );
});

it.each<[string, Record<string, unknown>]>([
  ['message', { message: '' }],
  ['verify_check', { verify_check: 'yes' }],
])('sendMessage names %s when it does not fit %j, and makes no request', async (member, change) => {
  const server = await startServer({});
  // What a JavaScript caller may pass.
  const input = { ...message, ...change } as MessageRequest;
  const error = await rejected(messengerAt(server.url).sendMessage(input));
  expect(error).toMatchObject({ code: 'invalid_input', issues: [{ path: [member] }] });
  expect(server.requests).toHaveLength(0);
});

it.each(['Bearer master-83d1f6', 'bearer  master-83d1f6'])(
  'a master key of %j is refused with the advice to leave "Bearer" out',
  (given) => {
    const make = () =>
      new MessengerClient({ deployment: deploymentAt('http://127.0.0.1'), masterKey: given });
    expect(refusal(make)).toBe('ConfigurationError invalid_credentials');
    expect(make).toThrow(/^masterKey begins with "Bearer"\. Give the key alone/);
    expect(make).not.toThrow(/83d1f6/);
  },
);

function clientWith(server: LocalServer, options: Partial<DeploymentOptions>): MessengerClient {
  return new MessengerClient({ deployment: deploymentAt(server.url, options), apiKey, masterKey });
}

function posted(server: LocalServer): unknown {
  return JSON.parse(server.requests[0]?.body.toString() ?? '');
}
