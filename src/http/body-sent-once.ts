/** Deno and workerd, as they call themselves in `navigator.userAgent`. */
const readsBlobsOnce = /^(?:Deno\/|Cloudflare-Workers)/;

/**
 * The request with a body that the platform cannot send a second time by itself.
 *
 * fetch keeps a body that is text or bytes, and sends the request again with it: Node after a 421 (as the fetch
 * standard has it), Deno when the connection is lost before a reply. The service then gets an order twice for one
 * attempt. A stream is gone once it is read. Its length is declared, so that it is not sent in chunks; Deno and workerd
 * send streams in chunks all the same, but read a Blob like a stream of known length, and never again.
 */
export function withBodySentOnce(request: Request, body: string): Request {
  const bytes = new TextEncoder().encode(body);
  if (readsBlobsOnce.test(globalThis.navigator?.userAgent ?? '')) {
    return new Request(request, { body: new Blob([bytes]) });
  }
  // TypeScript's RequestInit lacks `duplex`, which fetch demands for a stream.
  const init: RequestInit & { duplex: 'half' } = { body: streamOf(bytes), duplex: 'half' };
  const sent = new Request(request, init);
  sent.headers.set('content-length', String(bytes.byteLength));
  return sent;
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
