import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServerKind } from './http-listeners.ts';
import type { Usage } from './http-servers.ts';
import { pin } from './pin.ts';

/** Servers that share a process of their own, on the first core. */
export interface ServerProcess extends AsyncDisposable {
  readonly ports: Readonly<Record<string, number>>;
  usage(wanted: 'cpu' | 'memory'): Promise<Usage>;
}

export async function startServers(kinds: readonly ServerKind[]): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, 'http-servers.ts'), kinds);
  const [ports] = await once(child, 'message');
  pin(child.pid, 0);
  return {
    ports,
    async usage(wanted) {
      child.send(wanted);
      const [usage] = await once(child, 'message');
      return usage;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
