import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Mounted } from './contract.ts';

/** The listener on a port of the system's choice, in a server that gives requests half a second to arrive. */
export function listen(listener: RequestListener): Promise<Mounted> {
  return mountServer(createServer({ requestTimeout: 500, connectionsCheckingInterval: 50 }, listener));
}

export async function mountServer(server: Server): Promise<Mounted> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Sound: a server that listens on an IP address has an address of this form.
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, close };
}
