import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The port that a server listens on. */
export function portOf(server: Server): number {
  // AddressInfo: it listens on a port, not on a pipe.
  return (server.address() as AddressInfo).port;
}
