import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of this machine at which nothing listens. It is below those that systems give away by themselves (32768 and
 * up on Linux), so that no other test's server or connection takes it in the meantime; so is the port 10,000 above,
 * at which a Redis cluster's nodes talk to each other.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 22_000);
    if (await isFree(port)) return port;
  }
}

/** Whether nothing listens at a port of the loopback address. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
