import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform, Servers } from './platform.ts';

/** Node, Bun and Deno: a disk, and sockets. */
export function commandLine(): Platform & { remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
  return {
    // Before 22.13 Node wants a flag for it.
    sqliteFolder: process.version.startsWith('v22.12.') ? undefined : folder,
    // Sound: run-runtimes.ts sets it.
    servers: JSON.parse(process.env.RUNTIMES_SERVERS ?? '') as Servers,
    async serve(listener) {
      const server = createServer(listener);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      // Sound: a server that listens on an IP address has an address of this form.
      const { port } = server.address() as AddressInfo;
      return {
        url: `http://127.0.0.1:${port}/orders`,
        send: fetch,
        close: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
