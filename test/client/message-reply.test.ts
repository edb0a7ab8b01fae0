import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import type { DeploymentOptions } from '../../src/deployment/define-deployment.ts';
import { usualMessageReply } from '../../src/deployment/message-reply.ts';
import type { OrderReplyRules } from '../../src/deployment/order-reply.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { denialNames } from '../../src/devtools/sandbox/settings/reply-forms.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { Clock, otpOn, phone, purpose } from '../otp/support.ts';
import { rejected } from '../support/refusal.ts';
import { apiKey, deploymentAt, message, requestError } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

type Read = Exclude<NonNullable<DeploymentOptions['readMessageReply']>, OrderReplyRules>;

interface Answer {
  readonly status?: number;
  readonly readMessageReply?: DeploymentOptions['readMessageReply'];
}

/** A client of a messenger that answers every request so, and what it was sent. */
function answering(body: string | null, { status = 200, readMessageReply }: Answer = {}) {
  const sent: Request[] = [];
  const messenger = new MessengerClient({
    deployment: deploymentAt('https://messenger.example', { readMessageReply }),
    apiKey,
    retry: { firstDelayMs: 0 },
    fetch: async (request) => {
      sent.push(request);
      return new Response(body, { status });
    },
  });
  return { messenger, sent };
}

const notConnected = { success: false, error: 'session_not_connected' };

/** Each says in another way that no message was sent. */
const denials: readonly unknown[] = [
  notConnected,
  { Success: 'False' },
  { ok: false },
  { is_success: false },
  { status: 'error' },
  { status: ' FAILED ' },
  { status: false },
  { status: 500 },
  { error: { code: 7 } },
  { errors: ['no session'] },
  { code: '401' },
  { statusCode: 503 },
  { response_code: '05' },
  { data: { success: false } },
  [{ success: false }],
  [{ data: { status: 'failed' } }],
  false,
];

describe('sendMessage, when a 2xx', () => {
  it.each(denials)('denies the message, says that it was refused, and asks once: %j', async (body) => {
    const { messenger, sent } = answering(JSON.stringify(body));
    const error = await requestError(messenger.sendMessage(message));
    expect(error).toMatchObject({
      code: 'reply_not_accepted',
      outcome: 'refused',
      status: 200,
      attempts: 1,
      assumptions: expect.arrayContaining(['message-reply']),
    });
    expect(error.message).toContain('it did not act');
    expect(error.message).toContain('readMessageReply is needed');
    expect(error.message).not.toContain('order');
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['a page', '<html><title>Sign in</title></html>'],
    ['a text', 'Error: session not connected'],
    ['JSON that is cut', '{"success":fal'],
  ])('is %s, leaves the message unknown, and asks once', async (_, body) => {
    const { messenger, sent } = answering(body);
    const error = await requestError(messenger.sendMessage(message));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', attempts: 1 });
    expect(error.message).toContain('the reply is text, so nobody can tell whether the message was sent');
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['nothing', '', 200],
    ['nothing', null, 204],
    ['an empty object', '{}', 200],
    ['null', 'null', 200],
    ['true', 'true', 202],
    ['an empty list', '[]', 200],
    ['a list of messages', '[{"id":"m-1","status":"queued"}]', 200],
    ['a message', '{"message":"The message was sent.","error":null,"status":"PENDING"}', 201],
    ['a success', '{"success":true,"code":"00","statusCode":200,"errors":[]}', 200],
  ])('holds %s and no denial, takes it for sent', async (_, body, status) => {
    const { messenger } = answering(body, { status });
    expect(await messenger.sendMessage(message)).toMatchObject({ status });
  });

  it('quotes the reason, and hides one that repeats the number', async () => {
    const { message: words } = await requestError(
      answering(JSON.stringify(notConnected)).messenger.sendMessage(message),
    );
    expect(words).toContain('the reply denies the message by its member');
    expect(words).toContain('"session_not_connected"');
    const told = JSON.stringify({ success: false, message: `No such number: ${message.to_phone}` });
    const { message: hidden } = await requestError(answering(told).messenger.sendMessage(message));
    expect(hidden).not.toContain('2348012345678');
  });

  it('is any JSON, reads it without throwing', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const reply = { status: 200, headers: new Headers(), body: JSON.parse(text) };
        expect(['accepted', 'refused', 'unknown']).toContain(usualMessageReply(reply));
      }),
    );
  });

  it('denies another call of the messenger, leaves that alone', async () => {
    const { messenger } = answering(JSON.stringify(notConnected));
    expect((await messenger.checkNumber({ to_phone: phone })).body).toEqual(notConnected);
  });
});

describe('readMessageReply of the deployment', () => {
  it('may accept what looks like a denial', async () => {
    const read: Read = ({ body }) =>
      Object(body).error === 'session_not_connected' ? 'accepted' : 'unknown';
    const { messenger } = answering(JSON.stringify(notConnected), { readMessageReply: read });
    expect((await messenger.sendMessage(message)).body).toEqual(notConnected);
  });

  it.each(['refused', 'unknown'] as const)(
    'may say %s of a success, which is not repeated',
    async (verdict) => {
      const { messenger, sent } = answering('{"success":true}', { readMessageReply: () => verdict });
      const error = await requestError(messenger.sendMessage(message));
      expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: verdict });
      expect(error.message).toContain(`readMessageReply of the deployment says ${verdict}`);
      expect(sent).toHaveLength(1);
    },
  );

  it('may be rules as data, which accept a text', async () => {
    const readMessageReply = { accepted: [{ status: 200, body: 'text:565339bc4d33d728' }] };
    expect((await answering('OK', { readMessageReply }).messenger.sendMessage(message)).body).toBe('OK');
    const other = answering('NO', { readMessageReply }).messenger.sendMessage(message);
    expect(await requestError(other)).toMatchObject({ outcome: 'unknown' });
    const denied = answering('{"ok":false}', { readMessageReply }).messenger.sendMessage(message);
    expect(await requestError(denied)).toMatchObject({ outcome: 'refused' });
  });

  it('leaves the message unknown if it throws', async () => {
    const read: Read = () => {
      throw new Error('no');
    };
    const error = await requestError(
      answering('{}', { readMessageReply: read }).messenger.sendMessage(message),
    );
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(error.message).toContain('readMessageReply of the deployment threw instead of answering');
  });
});

describe('a one-time code whose message a 2xx denies', () => {
  const codesOver = (messenger: MessengerClient) => {
    const clock = new Clock();
    return otpOn(memoryStore({ now: clock.now }), clock, { messenger }).otp;
  };

  it('is not sent, is not counted, and starts no cool-down', async () => {
    const { messenger, sent } = answering(JSON.stringify(notConnected));
    const otp = codesOver(messenger);
    for (let time = 1; time <= 4; time++) {
      expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
        code: 'not_sent',
        cause: { code: 'reply_not_accepted', outcome: 'refused' },
      });
      expect(sent).toHaveLength(time);
    }
  });

  it('is refused, and counted, where the reply is about the number', async () => {
    const { messenger } = answering('{"success":false,"error":"number_not_on_messenger"}');
    const otp = codesOver(messenger);
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
      code: 'refused',
      member: 'to_phone',
    });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'cool_down' });
  });

  it('may have been sent where nobody can read the reply', async () => {
    const otp = codesOver(answering('<html>').messenger);
    expect(await otp.issue({ to_phone: phone, purpose })).toMatchObject({ delivery: 'unknown' });
  });

  it.each(denialNames)('reaches nobody over the sandbox that denies it as %s', async (form) => {
    const sandbox = createSandbox();
    const fetch = (request: Request) => sandbox.fetch(request);
    const options = { deployment: sandbox.deployment, fetch };
    const operator = new MessengerClient({ ...options, masterKey: sandbox.masterKey });
    const { body } = await operator.generateApiKey({ messenger_device_no: '1' });
    // The sandbox's own form of the reply.
    const { api_key } = body as { api_key: string };
    await fetch(new Request(operator.scanDeviceUrl({ api_key })));
    const messenger = new MessengerClient({ ...options, apiKey: api_key });
    sandbox.faults.plan('sendMessage', { kind: 'ok_with_error', form });
    const otp = codesOver(messenger);
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'not_sent' });
    expect(sandbox.messages).toHaveLength(0);
    expect(await otp.issue({ to_phone: phone, purpose })).toMatchObject({ delivery: 'sent' });
    expect(sandbox.messages).toHaveLength(1);
  });
});
