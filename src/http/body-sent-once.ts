/** How Deno and workerd name themselves in `navigator.userAgent`. */
const readsBlobsOnce = /^(?:Deno\/|Cloudflare-Workers)/;

/**
 * The request with a body that the platform cannot send a second time by itself.
 *
 * fetch keeps a body that is text or bytes, and may send the request again: Node after a 421 (as the fetch standard
 * says), Deno when the connection is lost before a reply. The service would get one order twice. A stream cannot be
 * read again. Its length is declared, so that it is not sent in chunks. Deno and workerd chunk streams all the same,
 * but read a Blob once and with its length.
 */
export function withBodySentOnce(request: Request, body: string): Request {
  const bytes = new TextEncoder().encode(body);
  if (readsBlobsOnce.test(globalThis.navigator?.userAgent ?? '')) {
    return new Request(request, { body: new Blob([bytes]) });
  }
  // TypeScript's RequestInit lacks `duplex`, which fetch requires for a stream.
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
