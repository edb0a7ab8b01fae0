import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CompleteDeployment } from '../../deployment/define-deployment.ts';
import type { BuyOrder } from '../../deployment/order-schema.ts';
import { checkNames } from '../../options/check-names.ts';
import { hostCheck } from './host-check.ts';
import { type FetchHandler, nodeListener } from './node-listener.ts';

export interface ListenOptions {
  /** @default 0: any free port */
  port?: number | undefined;
  /** Where to listen. Anything but loopback lets others on the network in. @default '127.0.0.1' */
  host?: string | undefined;
  /**
   * Further names, without a port, by which the server may be addressed besides its own address and `localhost`, e.g.
   * that of a container. Requests with another Host, or from a web page of another origin, are refused with 403.
   * @default []
   */
  allowedHosts?: readonly string[] | undefined;
}

/** The sandbox at a real address. */
export interface SandboxServer<Order = BuyOrder> {
  /** Origin, e.g. `http://127.0.0.1:40123`, without a slash at the end. */
  readonly url: string;
  /** The sandbox's deployment with its base URLs at this address. */
  readonly deployment: CompleteDeployment<Order>;
  /**
   * Stops listening, closes every connection, and waits for the current events. The sandbox itself stays usable. A
   * second call waits for the first.
   */
  close(): Promise<void>;
}

/** Puts an HTTP server around a function that answers. Rejects with the system's error, e.g. `EADDRINUSE`. */
export async function listen<Order>(options: {
  at: ListenOptions;
  maxBodyBytes: number;
  answer: FetchHandler;
  deploymentAt: (origin: string) => CompleteDeployment<Order>;
  idle: () => Promise<void>;
}): Promise<SandboxServer<Order>> {
  const { port: wantedPort = 0, host = '127.0.0.1', allowedHosts = [] } = options.at;
  checkNames('listen', options.at, { port: true, host: true, allowedHosts: true });
  const server = createServer();
  const { address, port } = await start(server, { port: wantedPort, host });
  const url = `http://${reachable(address)}:${port}`;
  const names = [new URL(url).hostname, host, 'localhost', '127.0.0.1', '[::1]', ...allowedHosts];
  server.on('request', nodeListener({ ...options, originOf: hostCheck(names) }));
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

function start(server: Server, at: { port: number; host: string }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
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

/** An address that clients can connect to, as a URL writes it. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}
