import type { IncomingMessage, RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type HttpHandler, HttpRequest, HttpResponse, InvocationContext } from '@azure/functions';
import { type HttpFunction, http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { listen, type Mounted } from './mount.ts';

export function mountGoogleCloud(webhooks: Webhooks): Promise<Mounted> {
  const handler: HttpFunction = webhooks.node;
  http('orders', handler);
  const [listener] = getTestServer('orders').listeners('request');
  // As it runs there: in development Express answers errors with a stack trace.
  Object(listener).set('env', 'production');
  // Sound: a server calls the listeners of this event with a request and a response.
  return listen(listener as RequestListener);
}

/** Runs a function as the worker of Azure does: it makes the request, and takes anything like a response. */
export function mountAzure(webhooks: Webhooks, bodies: 'whole' | 'streamed'): Promise<Mounted> {
  const handler: HttpHandler = webhooks.fetch;
  return listen(async (request, response) => {
    const received = bodies === 'whole' ? await wholeRequest(request) : streamedRequest(request);
    // Its host passes on whole requests alone.
    if (received === undefined) return;
    const answer = await handler(received, new InvocationContext());
    const made = new HttpResponse(Object(answer));
    response.writeHead(made.status, Object.fromEntries(made.headers)).end(await made.text());
  });
}

export const azureUrl = 'https://partner.azurewebsites.net/api/orders';

async function wholeRequest(request: IncomingMessage): Promise<HttpRequest | undefined> {
  const { method = '' } = request;
  const bytes = await buffer(request).catch(() => undefined);
  return bytes && new HttpRequest({ method, url: azureUrl, headers: headersOf(request), body: { bytes } });
}

function streamedRequest(request: IncomingMessage): HttpRequest {
  const { method = '' } = request;
  const body = method === 'GET' || method === 'HEAD' ? null : request;
  // Object(): these members are the worker's own, and not in the types.
  const nativeRequest = new Request(
    azureUrl,
    Object({ method, headers: headersOf(request), body, duplex: 'half' }),
  );
  return new HttpRequest(Object({ nativeRequest, params: {} }));
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}
