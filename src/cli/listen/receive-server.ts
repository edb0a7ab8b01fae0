import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostCheck } from '../../sandbox/server/http-server.ts';
import type { Delivery } from '../deliveries.ts';
import { pairsOf, withoutHopHeaders } from '../post-delivery.ts';

/** What the sender of a delivery is answered. */
export interface SenderAnswer {
  readonly status: number;
  readonly headers: Delivery['headers'];
  readonly body: Uint8Array;
}

export interface ReceiveServer {
  /** Origin, without a slash at the end. */
  readonly url: string;
  /** Takes no more deliveries, and resolves when those under way were answered. */
  close(): Promise<void>;
}

export interface ReceiveOptions {
  readonly port: number;
  readonly host: string;
  /** Further names by which it may be addressed, e.g. that of a tunnel. */
  readonly allowedHosts: readonly string[];
  readonly maxBodyBytes: number;
  readonly now: () => number;
  /** A sender may take this long for a whole request. @default 10_000 */
  readonly requestTimeoutMs?: number;
  /** Must not reject. */
  readonly receive: (delivery: Delivery) => Promise<SenderAnswer>;
}

/** An HTTP server that takes deliveries. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function startReceiveServer(options: ReceiveOptions): Promise<ReceiveServer> {
  const { requestTimeoutMs = 10_000 } = options;
  // Node looks for late ones every 30 s by default.
  const connectionsCheckingInterval = Math.min(1000, requestTimeoutMs);
  const server = createServer({ requestTimeout: requestTimeoutMs, connectionsCheckingInterval });
  const { address, port } = await listenOn(server, options);
  const name = address.includes(':') ? `[${address}]` : address;
  const isAllowed = hostCheck([name, 'localhost', '127.0.0.1', '[::1]', ...options.allowedHosts]);
  let isClosing = false;
  server.on('request', (incoming, outgoing) => {
    const isForeign = isAllowed(incoming.headers) === undefined;
    (isForeign ? Promise.resolve(foreignHost) : answer(incoming, options)).then(
      ({ status, headers, body }) => {
        const connection = isClosing || status === 413 ? ['connection', 'close'] : [];
        const length = ['content-length', String(body.byteLength)];
        outgoing.writeHead(status, [...withoutHopHeaders(headers).flat(), ...length, ...connection]);
        outgoing.end(incoming.method === 'HEAD' ? undefined : body);
      },
      // The sender hung up: nobody is left to answer.
      () => outgoing.destroy(),
    );
  });
  return {
    url: `http://${name}:${port}`,
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function answer(incoming: IncomingMessage, options: ReceiveOptions): Promise<SenderAnswer> {
  if (incoming.method !== 'POST') return refusal(405, 'method_not_allowed', [['allow', 'POST']]);
  const body = await readBody(incoming, options.maxBodyBytes);
  if (body === undefined) return refusal(413, 'body_too_large');
  return options.receive({
    receivedAt: new Date(options.now()).toISOString(),
    target: incoming.url?.startsWith('/') ? incoming.url : '/',
    headers: pairsOf(incoming.rawHeaders),
    body,
  });
}

/** The whole body; `undefined` beyond the limit. */
async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The stream stays open beyond the limit: closing the connection now would lose the answer.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An answer of our own. */
export function refusal(status: number, error: string, headers: Delivery['headers'] = []): SenderAnswer {
  return jsonAnswer(status, { error }, headers);
}

export function jsonAnswer(status: number, body: object, headers: Delivery['headers'] = []): SenderAnswer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...headers],
    body: Buffer.from(JSON.stringify(body)),
  };
}

const foreignHost = refusal(403, 'host_not_allowed');

/** Rejects with the system's error, e.g. `EADDRINUSE`. */
export function listenOn(server: Server, at: { port: number; host: string }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: at.port, host: at.host }, () => {
      server.off('error', reject);
      // Sound: a server that listens on TCP has such an address.
      resolve(server.address() as AddressInfo);
    });
  });
}
