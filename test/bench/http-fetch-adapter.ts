import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** The least that puts a `Request -> Response` function behind node:http: the same for all that are compared. */
export function listenerOf(handle: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    void handle(requestOf(incoming)).then((response) => respond(response, outgoing));
  };
}

function requestOf(incoming: IncomingMessage): Request {
  const headers = new Headers();
  const { rawHeaders } = incoming;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => controller.enqueue(chunk));
      incoming.on('end', () => controller.close());
    },
  });
  const init: RequestInit & { duplex: 'half' } = {
    method: incoming.method ?? '',
    headers,
    body,
    duplex: 'half',
  };
  return new Request(`http://partner.example${incoming.url}`, init);
}

async function respond(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
}
