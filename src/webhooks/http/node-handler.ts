import { type Answer, answerTo } from './answer.ts';
import { checkHead } from './check-head.ts';
import { type NodeRequest, readNodeBody } from './node-body.ts';
import type { Receiver } from './receiver.ts';
import type { RequestBody } from './request-body.ts';

/** The parts of `http.ServerResponse` that are used; that of `node:http2` has them too. */
export interface NodeResponse {
  readonly headersSent: boolean;
  /** Of HTTP/2. */
  readonly stream?: { close(): unknown } | undefined;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body: string): unknown;
}

/** For `node:http` and what is built on it. Never rejects for anything a caller sends. */
export async function handleNode(
  request: NodeRequest,
  response: NodeResponse,
  receiver: Receiver,
): Promise<void> {
  const begun = performance.now();
  const taken = refuseHead(request, receiver) ?? (await readNodeBody(request, receiver));
  if ('body' in taken) {
    send(answerTo(await receiver.receive(taken.body)), request, response);
    return;
  }
  const { refusal } = taken;
  const answer = receiver.refuse(refusal, begun);
  // Gone before its body was whole: there is nobody to answer.
  if (refusal === 'body_unreadable') return;
  const { connection: _, ...headers } = answer.headers;
  // Unless something else has read it, the rest of the request is not read: the connection cannot serve another. In
  // HTTP/2 it can, and the header is not allowed: there the stream ends with its answer, and not when its sender likes.
  const isOver = refusal !== 'raw_body_required';
  const isHttp1 = request.httpVersionMajor !== 2;
  const over = isOver && isHttp1 ? { ...headers, connection: 'close' } : headers;
  send({ ...answer, headers: over }, request, response);
  if (isOver && !isHttp1) response.stream?.close();
}

function refuseHead({ method, headers }: NodeRequest, { maxBodyBytes }: Receiver): RequestBody | undefined {
  const refusal = checkHead({ method, header: (name) => firstValue(headers[name]) }, maxBodyBytes);
  // By its length alone a body is not refused: its sender would not get to see the answer.
  return refusal === undefined || refusal === 'body_too_large' ? undefined : { refusal };
}

function send({ status, headers, body }: Answer, { method }: NodeRequest, response: NodeResponse): void {
  if (response.headersSent) return;
  response.writeHead(status, headers);
  response.end(method === 'HEAD' ? '' : body);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
