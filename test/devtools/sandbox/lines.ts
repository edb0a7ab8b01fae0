import { onTestFinished } from 'vitest';
import type { Sandbox } from '../../../src/devtools/sandbox/index.ts';
import type { Line } from './support.ts';

/** The two ways to a sandbox: its own fetch, and a socket. */
export const lines: [string, (sandbox: Sandbox) => Promise<Line>][] = [
  ['fetch', async (sandbox) => sandbox],
  [
    'HTTP',
    async (sandbox) => {
      const server = await sandbox.listen();
      onTestFinished(() => server.close());
      return { fetch, deployment: server.deployment };
    },
  ],
];
