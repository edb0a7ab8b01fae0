import { describe, expect, it } from 'vitest';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import type { DeploymentOptions } from '../../src/deployment/define-deployment.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { Clock, otpOn, phone, purpose } from '../otp/support.ts';
import { rejected } from '../support/refusal.ts';
import { apiKey, deploymentAt, message, requestError } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

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

/** The table of members is that of orders. */
const denials: readonly unknown[] = [notConnected, { data: { success: false } }, [{ success: false }], false];

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
  ])('is %s, leaves the message unknown, and asks once', async (_, body) => {
    const { messenger, sent } = answering(body);
    const error = await requestError(messenger.sendMessage(message));
    expect(error).toMatchObject({ code: 'reply_not_accepted', outcome: 'unknown', attempts: 1 });
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['nothing', '', 200],
    ['an empty object', '{}', 200],
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
    expect(words).toContain('"session_not_connected"');
    const told = JSON.stringify({ success: false, message: `No such number: ${message.to_phone}` });
    const { message: hidden } = await requestError(answering(told).messenger.sendMessage(message));
    expect(hidden).not.toContain('2348012345678');
  });
});

describe('readMessageReply of the deployment', () => {
  it('may be rules as data, which accept a text', async () => {
    const readMessageReply = { accepted: [{ status: 200, body: 'text:565339bc4d33d728' }] };
    expect((await answering('OK', { readMessageReply }).messenger.sendMessage(message)).body).toBe('OK');
    const other = answering('NO', { readMessageReply }).messenger.sendMessage(message);
    expect(await requestError(other)).toMatchObject({ outcome: 'unknown' });
    const denied = answering('{"ok":false}', { readMessageReply }).messenger.sendMessage(message);
    expect(await requestError(denied)).toMatchObject({ outcome: 'refused' });
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
});
