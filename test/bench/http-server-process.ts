import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServerKind } from './http-listeners.ts';
import { pin } from './pin.ts';

/** Servers that share a process of their own, on the first core. */
export interface ServerProcess extends AsyncDisposable {
  readonly ports: Readonly<Record<string, number>>;
  /** Milliseconds of CPU that it has used. */
  cpuMs(): Promise<number>;
}

export async function startServers(kinds: readonly ServerKind[]): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, 'http-servers.ts'), kinds);
  const [ports] = await once(child, 'message');
  pin(child.pid, 0);
  return {
    ports,
    async cpuMs() {
      child.send('cpu');
      const [used] = await once(child, 'message');
      return used;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
