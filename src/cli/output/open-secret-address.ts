import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';

/** How long the browser may take to start. */
const patienceMs = 60_000;

/**
 * Opens an address that holds a secret. The browser is started with another address, since every user sees the
 * arguments of programs: that of a server of our own, which redirects once and is gone.
 */
export async function openSecretAddress(context: CliContext, address: string): Promise<void> {
  const ticket = `/${Buffer.from(context.random(16)).toString('hex')}`;
  const used = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== ticket) {
      response.writeHead(404).end();
      return;
    }
    const headers = { location: address, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
    response.writeHead(303, { ...headers, connection: 'close' }).end(() => used.resolve());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    // Sound: a server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo;
    try {
      await context.openBrowser(`http://127.0.0.1:${port}${ticket}`);
    } catch (cause) {
      throw new CliError('There is no browser to open here: leave --open out.', { cause });
    }
    const patience = new AbortController();
    const isOpened = await Promise.race([
      used.promise.then(() => true),
      context.sleep(patienceMs, AbortSignal.any([context.signal, patience.signal])).then(() => false),
    ]);
    patience.abort();
    if (!isOpened && !context.signal.aborted) {
      throw new CliError('The browser did not ask for the page: leave --open out.');
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
