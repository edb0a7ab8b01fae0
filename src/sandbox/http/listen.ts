import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CompleteDeployment } from '../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../deployment/order-schema.ts';
import { type Answer, nodeListener } from './node-listener.ts';

export interface ListenOptions {
  /** @default 0: any free port */
  port?: number | undefined;
  /** @default '127.0.0.1' */
  host?: string | undefined;
}

/** The sandbox at a real address. */
export interface SandboxServer<Order = BuyOrder> {
  /** Origin, e.g. `http://127.0.0.1:40123`, without a slash at the end. */
  readonly url: string;
  /** The sandbox's deployment with its base URLs at this address. */
  readonly deployment: CompleteDeployment<Order>;
  /**
   * Stops listening, cuts every connection, and waits for the events under way. The sandbox itself lives on.
   * A second call waits for the first.
   */
  close(): Promise<void>;
}

/** Puts an HTTP server around an answering function. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function listen<Order>(options: {
  at: ListenOptions;
  maxBodyBytes: number;
  answer: Answer;
  deploymentAt: (origin: string) => CompleteDeployment<Order>;
  idle: () => Promise<void>;
}): Promise<SandboxServer<Order>> {
  const server = createServer();
  const { address, port } = await start(server, options.at);
  const url = `http://${reachable(address)}:${port}`;
  server.on('request', nodeListener({ ...options, origin: url }));
  let closed: Promise<void> | undefined;
  return Object.freeze({
    url,
    deployment: options.deploymentAt(url),
    close() {
      closed ??= stop(server).then(options.idle);
      return closed;
    },
  });
}

function start(server: Server, { port = 0, host = '127.0.0.1' }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** An address that a client can connect to, as a URL writes it. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}
