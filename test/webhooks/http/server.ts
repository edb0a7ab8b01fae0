import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { listeningPort } from '../../support/listening.ts';
import type { Posted, Sent } from './transports.ts';

/** A node:http server on a loopback port of the system's choice. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

/** Closes by itself at the end of an `await using` scope, and fails there if a connection is left open. */
export async function serve(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  const port = await listeningPort(server);
  return {
    port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeIdleConnections();
      }),
  };
}

/** One request over a connection of its own. A stream of chunks is sent without a length. */
export function send(
  port: number,
  { path = '/', method = 'POST', headers, body }: Sent = {},
): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      text(response).then((answered) => {
        const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(fields), body: answered });
      }, reject);
    });
    outgoing.on('error', reject);
    if (Array.isArray(body)) {
      for (const chunk of body) outgoing.write(chunk);
      outgoing.end();
    } else outgoing.end(body);
  });
}

/** A connection to write odd requests on, piece by piece. */
export function rawConnection(port: number) {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  const received = text(socket);
  // A connection that broke off is of no concern to those who do not ask what they received.
  received.catch(() => {});
  return {
    write: (piece: string | Uint8Array) =>
      new Promise<void>((resolve, reject) =>
        socket.write(piece, (error) => (error ? reject(error) : resolve())),
      ),
    /** Breaks the connection off. */
    abort: () => socket.destroy(),
    /** What the server sent first. Call it before the server can have answered. */
    firstPiece: async () => String((await once(socket, 'data'))[0]),
    /** Everything the server sent until it closed the connection. */
    received: () => received,
  };
}
