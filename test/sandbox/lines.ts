import { afterEach } from 'vitest';
import type { Sandbox, SandboxServer } from '../../src/sandbox/index.ts';
import type { Line } from './support.ts';

const servers: SandboxServer<unknown>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** The two ways to a sandbox: its own fetch, and a socket. */
export const lines: [string, (sandbox: Sandbox) => Promise<Line>][] = [
  ['fetch', async (sandbox) => sandbox],
  [
    'HTTP',
    async (sandbox) => {
      const server = await sandbox.listen();
      servers.push(server);
      return { fetch, deployment: server.deployment };
    },
  ],
];
