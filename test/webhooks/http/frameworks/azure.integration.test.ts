import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type HttpHandler, HttpRequest, HttpResponse, InvocationContext } from '@azure/functions';
import { expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { describeFramework } from './contract.ts';
import { listen, type Mounted } from './mount.ts';

const wholeBodies = { notHere: 'Without HTTP streams the host waits for the whole body.' };

describeFramework(
  'Azure Functions v4',
  (webhooks) => mountAzure(webhooks.fetch, async (request) => wholeRequest(request, await buffer(request))),
  { slowBody: wholeBodies, clientAbort: wholeBodies },
);

describeFramework('Azure Functions v4 with HTTP streams', (webhooks) =>
  mountAzure(webhooks.fetch, streamedRequest),
);

/** Runs a function as the worker of Azure does: it makes the request, and takes anything like a response. */
function mountAzure(
  handler: HttpHandler,
  requestOf: (request: IncomingMessage) => HttpRequest | Promise<HttpRequest>,
): Promise<Mounted> {
  return listen(async (request, response) => {
    const answer = await handler(await requestOf(request), new InvocationContext());
    const made = new HttpResponse(Object(answer));
    response.writeHead(made.status, Object.fromEntries(made.headers)).end(await made.text());
  });
}

const url = 'https://partner.azurewebsites.net/api/orders';

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

function wholeRequest(request: IncomingMessage, bytes: Uint8Array): HttpRequest {
  return new HttpRequest({ method: request.method ?? '', url, headers: headersOf(request), body: { bytes } });
}

function streamedRequest(request: IncomingMessage): HttpRequest {
  const { method = '' } = request;
  const body = method === 'GET' || method === 'HEAD' ? null : request;
  // Object(): these members are the worker's own, and not in the types.
  const nativeRequest = new Request(
    url,
    Object({ method, headers: headersOf(request), body, duplex: 'half' }),
  );
  return new HttpRequest(Object({ nativeRequest, params: {} }));
}

it('Azure Functions, whose body was read before, is told to pass the request on', async () => {
  const { events, webhooks } = recordingWebhooks();
  const request = new HttpRequest({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: { string: delivery(buyInitBody()) },
  });
  await request.json();
  let status = 0;
  const warnings = await warningsDuring(async () => {
    ({ status } = await webhooks.fetch(request));
  });
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('Azure Functions: webhooks.fetch(request) before request.json()');
});
