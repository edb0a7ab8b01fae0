/** How Deno and workerd name themselves in `navigator.userAgent`. */
const readsBlobsOnce = /^(?:Deno\/|Cloudflare-Workers)/;

const encoder = new TextEncoder();

/** The part of fetch's `init` that holds a body. TypeScript's RequestInit lacks `duplex`, which a stream requires. */
export interface BodySentOnce {
  readonly headers: Headers;
  readonly body: Blob | ReadableStream<Uint8Array>;
  readonly duplex?: 'half';
}

/**
 * A body that the platform cannot send a second time by itself, with the headers that go with it.
 *
 * fetch keeps a body that is text or bytes, and may send the request again: Node after a 421 (as the fetch standard
 * says), Deno when the connection is lost before a reply. The service would get one order twice. A stream cannot be
 * read again. Its length is declared, so that it is not sent in chunks. Deno and workerd chunk streams all the same,
 * but read a Blob once and with its length.
 */
export function bodySentOnce(text: string, given: Headers): BodySentOnce {
  const bytes = encoder.encode(text);
  if (readsBlobsOnce.test(globalThis.navigator?.userAgent ?? '')) {
    return { headers: given, body: new Blob([bytes]) };
  }
  const headers = new Headers(given);
  headers.set('content-length', String(bytes.byteLength));
  return { headers, body: streamOf(bytes), duplex: 'half' };
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
