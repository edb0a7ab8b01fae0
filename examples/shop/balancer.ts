/** For the example of two replicas: a balancer that can lose its connections, as any can. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export async function startBalancer() {
  const agent = new Agent({ keepAlive: true });
  const targets = new Set<string>();
  let turn = 0;

  /** The request goes to one replica alone: only its sender knows whether it may be repeated. */
  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method, url = '/', headers } = from;
    const body = await buffer(from);
    const target = [...targets][turn++ % targets.size];
    const passed = request(new URL(url, target), { method, headers, agent }).end(body);
    // An array of one: the arguments of the event.
    const [answer]: IncomingMessage[] = await once(passed, 'response');
    to.writeHead(answer?.statusCode ?? 502, answer?.headers);
    to.end(answer && (await buffer(answer)));
  }

  const server = createServer((from, to) => {
    pass(from, to).catch(() => (to.headersSent ? to.destroy() : to.writeHead(502).end()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // AddressInfo: it listens on a port, not on a pipe.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    /** Ends each connection on both sides, also in the middle of a request. */
    cut(): void {
      server.closeAllConnections();
      agent.destroy();
    },
    close(): void {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
