import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { DeliveryReport } from '../../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../../support/bodies.ts';
import { delivery, quietWebhooks, recordingWebhooks } from '../deliveries.ts';

const sent = delivery(buyInitBody());
const json = { 'content-type': 'application/json; charset=utf-8' };

it.each([
  ['text', sent],
  ['bytes', new TextEncoder().encode(sent)],
])('webhooks.answer takes a request whose body is there already as %s', async (_, body) => {
  const { events, webhooks } = recordingWebhooks();
  const { answer } = webhooks;
  expect(await answer({ method: 'POST', headers: json, body })).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', 'content-length': '17' },
    body: '{"received":true}',
  });
  expect(events).toHaveLength(1);
});

it('webhooks.answer refuses what is no delivery, and reports it', async () => {
  const reports: DeliveryReport[] = [];
  const webhooks = quietWebhooks({ maxBodyBytes: 1_000, onDelivery: (report) => reports.push(report) });
  const requests = [
    { method: 'PUT', headers: json, body: sent },
    { method: 'POST', headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('{}') },
    // What is said of its length does not matter, once it is here.
    { method: 'POST', headers: { ...json, 'content-length': '5' }, body: ' '.repeat(1_001) },
    { method: 'POST', headers: { ...json, 'content-length': '99999' }, body: '{}' },
  ];
  const answers = [];
  for (const request of requests) answers.push(await webhooks.answer(request));
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [405, '{"error":"method_not_allowed"}'],
    [400, '{"error":"body_not_utf8"}'],
    [413, '{"error":"body_too_large"}'],
    [401, '{"error":"signature_missing"}'],
  ]);
  expect(reports.map(({ status, code }) => [status, code])).toEqual([
    [405, 'method_not_allowed'],
    [400, 'body_not_utf8'],
    [413, 'body_too_large'],
    [401, 'signature_missing'],
  ]);
});

it('webhooks.answer rejects a parsed body: that is a mistake of the program, not of the sender', async () => {
  const parsed: object = { method: 'POST', headers: json, body: JSON.parse(sent) };
  await expect(quietWebhooks().answer(Object(parsed))).rejects.toMatchObject({ code: 'raw_body_required' });
});

it.each(['POST', 'PUT'])('webhooks.fetch answers a %s whose body throws when it is read', async (method) => {
  const request = {
    ...{ method, url: 'https://partner.example/', headers: new Headers(json), bodyUsed: false },
    get body(): never {
      throw new TypeError('The body was taken by the platform.');
    },
  };
  const { status } = await quietWebhooks().fetch(request);
  expect(status).toBe(method === 'POST' ? 400 : 405);
});
