import { createServer, type RequestListener, Server, type ServerOptions } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { listeningPort } from '../../../support/listening.ts';

/** A framework that listens on a loopback port with the webhooks mounted at `/`, for every method. */
export interface Mounted {
  readonly port: number;
  close(): Promise<void>;
}

/** The listener on a port of the system's choice. */
export function listen(listener: RequestListener): Promise<Mounted> {
  return mountServer(createServer(listener));
}

export async function mountServer(server: Server): Promise<Mounted> {
  const port = await listeningPort(server);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, close };
}

/** A `Request -> Response` function on a real server, as Hono runs on Node. */
export function mountFetch(
  fetch: (request: Request) => Response | Promise<Response>,
  serverOptions?: ServerOptions,
): Promise<Mounted> {
  const server = createAdaptorServer({ fetch, ...(serverOptions && { serverOptions }) });
  if (!(server instanceof Server)) throw new Error('The adaptor made a server of HTTP/2.');
  return mountServer(server);
}

/**
 * A route handler as Next.js runs it: a method that the route does not export is answered with 405, HEAD runs GET.
 * Next.js itself is not installed: the webhooks meet nothing else of it.
 */
export function mountNext(webhooks: Webhooks): Promise<Mounted> {
  const route: Partial<Record<string, (request: Request) => Promise<Response>>> = { POST: webhooks.fetch };
  return mountFetch((request) => {
    const handler = route[request.method === 'HEAD' ? 'GET' : request.method];
    return handler?.(request) ?? new Response(null, { status: 405 });
  });
}
