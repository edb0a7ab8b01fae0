import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of the loopback interface, and resolves with the address, without a slash at the end. */
export async function listening(server: Server, scheme: 'http' | 'https' = 'http'): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // Sound: a server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return `${scheme}://127.0.0.1:${port}`;
}
