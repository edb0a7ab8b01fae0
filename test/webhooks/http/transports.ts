import { describe } from 'vitest';
import type { Webhooks } from '../../../src/webhooks/create-webhooks.ts';
import { send, serve } from './server.ts';

/** A request to the webhooks; a list is sent as a stream of chunks, without a length. */
export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array | readonly Uint8Array[];
}

export interface Posted {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a request gets to webhooks and their answer back. */
export type Post = (webhooks: Webhooks, sent: Sent) => Promise<Posted>;

async function postByNode(webhooks: Webhooks, sent: Sent): Promise<Posted> {
  await using server = await serve(webhooks.node);
  return await send(server.port, sent);
}

async function postByFetch(webhooks: Webhooks, sent: Sent): Promise<Posted> {
  const response = await webhooks.fetch(fetchRequest(sent));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

/** The same tests over a real node:http server and over Request objects. */
export function describeTransports(title: string, tests: (post: Post) => void): void {
  describe.each([
    ['node', postByNode],
    ['fetch', postByFetch],
  ])(`${title} (%s)`, (_, post) => tests(post));
}

/** A Request as a server makes one. Without a content type unless one is given. */
export function fetchRequest({ method = 'POST', headers = {}, body }: Sent): Request {
  const init: RequestInit & { duplex: 'half' } = { method, headers, duplex: 'half' };
  if (body !== undefined) init.body = streamOf(chunksOf(body));
  return new Request('https://partner.example/callback', init);
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = chunks.values();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function chunksOf(body: string | Uint8Array | readonly Uint8Array[]): readonly Uint8Array[] {
  if (typeof body === 'string') return [new TextEncoder().encode(body)];
  return body instanceof Uint8Array ? [body] : body;
}
