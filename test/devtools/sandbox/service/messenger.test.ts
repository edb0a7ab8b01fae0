import { describe, expect, it } from 'vitest';
import { operationUrl } from '../../../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../../src/devtools/sandbox/sandbox.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { post, refusal, reply } from '../support.ts';

const device = { messenger_device_no: '42' };

async function apiKey(sandbox: Sandbox): Promise<string> {
  const { body } = await reply(post(sandbox, 'generateApiKey', device, { authorization: sandbox.masterKey }));
  return String(body.api_key);
}

function scan(sandbox: Sandbox, key: string): Promise<Response> {
  return sandbox.fetch(`${operationUrl(sandbox.deployment, 'scanDevice')}?api_key=${key}`);
}

describe('generateApiKey', () => {
  it('gives a device number one key, for the bare master key alone', async () => {
    const sandbox = createSandbox({ masterKey: 'the-master' });
    const ask = (headers: Record<string, string>) => post(sandbox, 'generateApiKey', device, headers);
    for (const headers of [{}, { authorization: 'x' }, { authorization: 'Bearer the-master' }] as const)
      expect(await refusal(ask(headers))).toEqual([401, 'wrong_master_key']);
    expect(await reply(ask({ authorization: 'the-master' }))).toEqual({
      status: 200,
      body: { api_key: expect.stringMatching(/^API-X-/), messenger_device_no: '42' },
    });
    expect(await refusal(ask({ authorization: 'the-master' }))).toEqual([409, 'device_has_key']);
  });
});

describe('scanDevice', () => {
  it('shows a page that holds nothing of the request', async () => {
    const sandbox = createSandbox();
    const key = await apiKey(sandbox);
    const response = await scan(sandbox, key);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page).not.toContain(key);
    expect(page).not.toContain('42');
  });

  it('refuses a key that does not exist, and none or two', async () => {
    const sandbox = createSandbox();
    expect(await refusal(scan(sandbox, 'API-X-0'))).toEqual([401, 'unknown_api_key']);
    expect(await refusal(scan(sandbox, ''))).toEqual([400, 'invalid_query']);
    expect(await refusal(scan(sandbox, 'a&api_key=b'))).toEqual([400, 'invalid_query']);
  });
});

describe('sendMessage', () => {
  it('sends through a scanned device only', async () => {
    const sandbox = createSandbox({ now: () => 5 });
    const api_key = await apiKey(sandbox);
    const body = { api_key, message: 'Your code is 123456', to_phone: '+2348000000000', verify_check: true };
    expect(await refusal(post(sandbox, 'sendMessage', body))).toEqual([409, 'device_not_connected']);
    await scan(sandbox, api_key);
    expect((await post(sandbox, 'sendMessage', body)).status).toBe(200);
    const { api_key: _, ...sent } = body;
    expect(sandbox.messages).toEqual([{ ...sent, messenger_device_no: '42', sentAt: 5 }]);
  });

  it('refuses a key that does not exist, and members that do not fit', async () => {
    const sandbox = createSandbox();
    const api_key = await apiKey(sandbox);
    await scan(sandbox, api_key);
    const body = { api_key, message: 'hi', to_phone: '1' };
    const send = (change: JsonObject) => refusal(post(sandbox, 'sendMessage', { ...body, ...change }));
    expect(await send({ api_key: 'API-X-0' })).toEqual([401, 'unknown_api_key']);
    for (const wrong of [{ message: 1 }, { to_phone: '' }, { verify_check: 'yes' }, { api_key: null }])
      expect(await send(wrong)).toEqual([400, 'invalid_body']);
    expect(sandbox.messages).toEqual([]);
  });
});

describe('checkNumber', () => {
  it('answers where its path is configured', async () => {
    const sandbox = createSandbox({
      deployment: { paths: { checkNumber: '/numbers/check' } },
      numbersNotOnMessenger: ['+1 555-0100'],
    });
    const api_key = await apiKey(sandbox);
    const check = (to_phone: string) => {
      const query = new URLSearchParams({ api_key, to_phone });
      return sandbox.fetch(`${operationUrl(sandbox.deployment, 'checkNumber')}?${query}`);
    };
    expect(await refusal(check('+15550100'))).toEqual([409, 'device_not_connected']);
    await scan(sandbox, api_key);
    expect((await reply(check('+15550100'))).body).toMatchObject({ on_messenger: false });
    expect((await reply(check('+15550101'))).body).toMatchObject({ on_messenger: true });
    const message = { api_key, message: 'hi', to_phone: '+15550100' };
    expect(await refusal(post(sandbox, 'sendMessage', message))).toEqual([422, 'number_not_on_messenger']);
  });
});
