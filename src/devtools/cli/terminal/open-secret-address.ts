import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CliContext, CliError } from './context.ts';

const browserTimeoutMs = 60_000;

/**
 * Opens an address that holds a secret. Other users see the arguments of programs, so the browser is started with a
 * file that only this user can read. The file leads to a server of ours, which redirects once and ends.
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
  let folder: string | undefined;
  try {
    // Sound: a server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo;
    try {
      // Browsers in a sandbox (snap) do not see the folder for temporary files.
      folder = await mkdtemp(join(context.env.HOME || homedir(), 'partner-exchange-'));
      const page = join(folder, 'open.html');
      await writeFile(page, redirectTo(`http://127.0.0.1:${port}${ticket}`), { mode: 0o600, flag: 'wx' });
      await context.openBrowser(pathToFileURL(page).href);
    } catch (cause) {
      throw new CliError('There is no browser to open here: leave --open out.', { cause });
    }
    const timeout = new AbortController();
    const isOpened = await Promise.race([
      used.promise.then(() => true),
      context.sleep(browserTimeoutMs, AbortSignal.any([context.signal, timeout.signal])).then(() => false),
    ]);
    timeout.abort();
    if (!isOpened && !context.signal.aborted) {
      throw new CliError('The browser did not ask for the page: leave --open out.');
    }
  } finally {
    server.close();
    server.closeAllConnections();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

function redirectTo(url: string): string {
  return `<!doctype html><meta charset="utf-8"><title>partner-exchange</title><meta http-equiv="refresh" content="0; url=${url}">\n`;
}
