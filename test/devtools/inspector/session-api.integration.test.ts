import { expect, it } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { startServer } from '../../support/local-server.ts';
import { partnerExchange } from '../cli/run-in-process.ts';
import { filesIn } from '../cli/support.ts';
import { type Story, startStory } from './story.ts';

const lastEvent = ({ sandbox }: Story) => sandbox.trace.entries.findLast(({ kind }) => kind === 'event');

it('the API sends an edited event again: signed it is taken, under the old signature it is refused', async () => {
  await using story = await startStory();
  await story.order('A-1');
  await story.sandbox.idle();
  const event = lastEvent(story);
  const edited = event?.body?.replace('15000.50', '99.00');
  const kept = await story.api(`trace/${event?.id}/send`, { body: edited });
  expect(kept).toMatchObject({ status: 200, body: { status: 401, exchange: lastEvent(story)?.id } });
  expect(lastEvent(story)).toMatchObject({
    body: edited,
    faults: ['tampered'],
    note: `Edited copy of #${event?.id}.`,
  });
  const headers = { ...event?.headers, 'x-trial': 'é', host: 'elsewhere.example' };
  const signed = await story.api(`trace/${event?.id}/send`, { body: edited, headers, signature: 'renew' });
  expect(signed.body).toMatchObject({ status: 200 });
  const { body, headers: sent, faults } = lastEvent(story) ?? {};
  // Its spelling stays: only the signature differs.
  const hidden = (text = '') => text.replace(/[0-9a-f]{128}/, '');
  expect(hidden(body)).toBe(hidden(edited));
  expect(body).not.toBe(edited);
  expect(faults).toEqual([]);
  expect(sent).toEqual({ ...event?.headers, 'x-trial': 'é' });
  const unsigned = await story.api(`trace/${event?.id}/send`, {
    body: '{"event_name":"new"}',
    signature: 'renew',
  });
  expect(unsigned.body).toMatchObject({ status: 500 });
  expect(lastEvent(story)).toMatchObject({ event: 'new', body: expect.stringContaining('"signature"') });
});

it("the API sends a partner's edited request again, signed with the partner's key", async () => {
  await using story = await startStory();
  await story.order('A-1');
  const request = story.sandbox.trace.entries.find(({ operation }) => operation === 'createOrder');
  const body = request?.body?.replace('A-1', 'A-2');
  const kept = await story.api(`trace/${request?.id}/send`, { body });
  expect(kept.body).toMatchObject({ status: 401 });
  const signed = await story.api(`trace/${request?.id}/send`, { body, signature: 'renew' });
  const copy = story.sandbox.trace.entries.findLast(({ kind }) => kind === 'request');
  expect(signed.body).toEqual({ status: 200, exchange: copy?.id });
  expect(story.sandbox.order('A-2').state).toBe('created');
  const unsigned = story.sandbox.trace.entries.find(({ operation }) => operation === 'whitelistIp');
  const refused = await story.api(`trace/${unsigned?.id}/send`, { signature: 'renew' });
  expect(refused).toMatchObject({ status: 409, body: { error: 'not_signed' } });
});

it('the API refuses a copy that cannot be sent, with the reason', async () => {
  await using story = await startStory();
  await story.order('A-1');
  await story.sandbox.idle();
  const event = lastEvent(story);
  const { length } = story.sandbox.trace.entries;
  for (const [edit, status, error] of [
    [{ headers: { 'a b': 'c' } }, 400, 'invalid_body'],
    [{ headers: { a: 'b\r\nc: d' } }, 400, 'invalid_body'],
    [{ url: 'file:///etc/passwd' }, 400, 'invalid_body'],
    [{ signature: 'forge' }, 400, 'invalid_body'],
    [{ body: '[1]', signature: 'renew' }, 400, 'body_not_object'],
    [{ body: '{"signature":"a","signature":"b"}', signature: 'renew' }, 400, 'signature_duplicated'],
    [{ body: 'x'.repeat(2 * 1024 * 1024) }, 413, 'body_too_large'],
  ] as const) {
    expect([edit, await story.api(`trace/${event?.id}/send`, edit)]).toMatchObject([
      edit,
      { status, body: { error } },
    ]);
  }
  expect((await story.api('trace/999/send', {})).status).toBe(404);
  expect(story.sandbox.trace.entries).toHaveLength(length);
  const anonymous = await fetch(`${story.server.url}/_sandbox/trace/${event?.id}/send`, { method: 'POST' });
  expect(anonymous.status).toBe(401);
});

it('an unchanged copy of a genuine event is no forgery, also under other headers or older keys', async () => {
  await using story = await startStory();
  await story.order('A-1');
  await story.sandbox.idle();
  const event = lastEvent(story);
  const send = async (edit: object) => {
    const { status } = (await story.api(`trace/${event?.id}/send`, edit)).body;
    return { status, faults: lastEvent(story)?.faults };
  };
  expect(await send({})).toEqual({ status: 200, faults: [] });
  expect(await send({ headers: { 'content-type': 'text/plain' } })).toEqual({ status: 200, faults: [] });
  await new ExchangeClient({
    deployment: story.server.deployment,
    credentials: story.credentials,
  }).regenerateKeys({ email: 'dev@acme.example', partner_code: story.credentials.partnerCode });
  story.sandbox.openLink(story.sandbox.emails.at(-1)?.link ?? '');
  expect(await send({})).toMatchObject({ faults: [] });
  const forged = await story.api(`deliveries/${event?.delivery}/forge`, {});
  expect(forged.status).toBe(200);
  const copy = await story.api(`trace/${lastEvent(story)?.id}/send`, {});
  expect([copy.body.status, lastEvent(story)?.faults]).toEqual([401, ['forged']]);
});

it('the API gives its traffic as JSON, which replay takes', async () => {
  await using story = await startStory();
  await story.order('A-1');
  await story.sandbox.idle();
  const { entries } = story.sandbox.trace;
  const { body: traffic } = await story.api('trace');
  expect(traffic).toMatchObject({ lastId: entries.length, forgotten: 0 });
  expect(traffic.entries).toHaveLength(entries.length);
  const receiver = await startServer({ status: 200 });
  const cwd = filesIn({ 'traffic.json': JSON.stringify(traffic) });
  const args = ['replay', 'traffic.json', '--to', receiver.url];
  expect(await partnerExchange(args, { cwd })).toMatchObject({ code: 0 });
  const events = entries.filter(({ kind }) => kind === 'event');
  expect(events.length).toBeGreaterThan(0);
  expect(receiver.requests.map(({ body, url }) => [body.toString(), url])).toEqual(
    events.map(({ body, url = '' }) => [body, new URL(url).pathname]),
  );
  expect(receiver.requests[0]?.headers).toMatchObject({ ...events[0]?.headers });
});

it('the API takes no body of more than 2 MiB, and none without the token', async () => {
  await using story = await startStory();
  const upload = async (body: string | Uint8Array<ArrayBuffer>, token = story.server.token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${story.server.url}/_sandbox/trace/1/send`, {
      method: 'POST',
      headers,
      body,
    });
    return [response.status, (await response.json()).error];
  };
  expect(await upload(new Uint8Array(3_000_000).fill(0x20))).toEqual([413, 'body_too_large']);
  expect(await upload('[')).toEqual([400, 'body_not_json']);
  expect(await upload('{}', 'wrong'.repeat(5))).toEqual([401, 'token_wrong']);
});
