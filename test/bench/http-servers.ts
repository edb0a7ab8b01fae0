/**
 * The servers that are compared, in one process: processes of their own settle in a faster or a slower mode each, and
 * that makes more of a difference than what is compared. Started by http-server-process.ts.
 */
import { createServer, type RequestListener } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { listeningPort } from '../support/listening.ts';
import { listeners, type ServerKind } from './http-listeners.ts';

/** What the process has used so far. */
export interface Usage {
  readonly cpuMs: number;
  /** Bytes of the heap and beside it; after a collection, if it was asked for. */
  readonly memory: number;
  readonly rss: number;
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const ports: Record<string, number> = {};
// Sound: its parent gives these.
for (const kind of process.argv.slice(2) as ServerKind[]) ports[kind] = await listen(await listeners[kind]());
process.on('message', (wanted) => {
  const { user, system } = process.cpuUsage();
  if (wanted === 'memory') collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ cpuMs: (user + system) / 1000, memory: heapUsed + external, rss } satisfies Usage);
});
process.on('disconnect', () => process.exit());
process.send?.(ports);

async function listen(listener: RequestListener): Promise<number> {
  // The connections wait while the other servers have their turn.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  return listeningPort(server);
}
