import { checkHead } from './check-head.ts';
import type { Endpoint } from './endpoint.ts';
import { type NodeRequest, readNodeBody } from './node-body.ts';
import type { RequestRefusal } from './request-body.ts';
import { responseTo, type WebhookResponse } from './webhook-response.ts';

/** The parts of `http.ServerResponse` that we use; the one of `node:http2` has them too. */
export interface NodeResponse {
  readonly headersSent: boolean;
  /** Only in HTTP/2. */
  readonly stream?: { close(): unknown } | undefined;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body: string): unknown;
}

/** For `node:http` and everything built on it. Never rejects, whatever a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  endpoint: Endpoint,
): Promise<void> {
  const startedAt = performance.now();
  const read = refuseHead(request, endpoint) ?? (await readNodeBody(request, endpoint));
  if ('body' in read) {
    send(responseTo(await endpoint.receive(read.body)), request, response);
    return;
  }
  const { refusal } = read;
  const refused = endpoint.refuse(read, startedAt);
  // The caller left before its body was complete: there is nobody to answer.
  if (refusal === 'body_unreadable') return;
  const { connection: _, ...headers } = refused.headers;
  // The rest of the body stays unread. An HTTP/1 connection cannot serve another request then. An HTTP/2 connection
  // can, and forbids the header: there the stream is closed with its response, without waiting for the sender.
  const hasUnreadBody = refusal !== 'raw_body_required';
  const isHttp1 = request.httpVersionMajor !== 2;
  const closing = hasUnreadBody && isHttp1 ? { ...headers, connection: 'close' } : headers;
  send({ ...refused, headers: closing }, request, response);
  if (hasUnreadBody && !isHttp1) response.stream?.close();
}

function refuseHead(
  { method, headers }: NodeRequest,
  { maxBodyBytes }: Endpoint,
): RequestRefusal | undefined {
  const refusal = checkHead({ method, header: (name) => firstValue(headers[name]) }, maxBodyBytes);
  // A body that is declared too large is still read and dropped: a sender that is still sending would not see the
  // response.
  return refusal === undefined || refusal === 'body_too_large' ? undefined : { refusal };
}

function send(
  { status, headers, body }: WebhookResponse,
  { method }: NodeRequest,
  response: NodeResponse,
): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? '' : body);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
