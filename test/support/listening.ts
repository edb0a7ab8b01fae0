import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

type Listener = Pick<Server, 'listen' | 'listening' | 'address'>;

/** Listens on a free port of the loopback interface, unless it listens already, and resolves with the port. */
export async function listeningPort(server: Listener): Promise<number> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  // Sound: a server that listens on a TCP port has an address of this form.
  return (server.address() as AddressInfo).port;
}

/** Listens as {@link listeningPort} does, and resolves with the address, without a slash at the end. */
export async function listening(server: Listener, scheme: 'http' | 'https' = 'http'): Promise<string> {
  return `${scheme}://127.0.0.1:${await listeningPort(server)}`;
}
