import { checkHead } from './check-head.ts';
import type { Endpoint } from './endpoint.ts';
import { readFetchBody } from './fetch-body.ts';
import { responseTo, type WebhookResponse } from './webhook-response.ts';

/** `Request -> Response`. Never rejects, whatever a caller sends. */
export async function handleFetch(request: Request, endpoint: Endpoint): Promise<Response> {
  const { status, headers, body } = await respond(request, endpoint);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

async function respond(request: Request, endpoint: Endpoint): Promise<WebhookResponse> {
  const startedAt = performance.now();
  const head = { method: request.method, header: (name: string) => request.headers.get(name) };
  const refusal = checkHead(head, endpoint.maxBodyBytes);
  if (refusal !== undefined) {
    request.body?.cancel().catch(() => {});
    return endpoint.refuse({ refusal }, startedAt);
  }
  const read = await readFetchBody(request, endpoint);
  return 'body' in read ? responseTo(await endpoint.receive(read.body)) : endpoint.refuse(read, startedAt);
}
