import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from './entries.ts';
import { run } from './run.ts';

/**
 * A package registry on this machine that has our tarball, so that a test can type `npm install partner-exchange-sdk` as
 * a user does. It redirects requests for other packages to the registry that npm is configured with.
 */
export async function startLocalRegistry(tarball: string): Promise<{ url: string; close(): void }> {
  const others = run('npm', ['config', 'get', 'registry'], { cwd: root }).trim().replace(/\/$/, '');
  const bytes = readFileSync(tarball);
  // Our own file.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  const { name, version } = manifest;
  const server = createServer(({ url: path = '/' }, response) => {
    if (path === '/package.tgz') response.end(bytes);
    else if (path === `/${name}`) {
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const dist = { tarball: `${url}/package.tgz`, integrity };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    } else response.writeHead(302, { location: others + path }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // AddressInfo: it listens on a port, not on a pipe.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => void server.close() };
}
