import { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Mounted } from './contract.ts';
import { mountServer } from './listen.ts';

/** A `Request -> Response` function on a real server, as Hono runs on Node. */
export function mountFetch(fetch: (request: Request) => Response | Promise<Response>): Promise<Mounted> {
  const server = createAdaptorServer({ fetch });
  if (!(server instanceof Server)) throw new Error('The adaptor made a server of HTTP/2.');
  return mountServer(server);
}
