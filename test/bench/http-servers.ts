/**
 * The servers that are compared, in one process: processes of their own settle in a faster or a slower mode each, and
 * that makes more of a difference than what is compared. Started by http-server-process.ts.
 */
import { createServer, type RequestListener } from 'node:http';
import { listeningPort } from '../support/listening.ts';
import { listeners, type ServerKind } from './http-listeners.ts';

const ports: Record<string, number> = {};
// Sound: its parent gives these.
for (const kind of process.argv.slice(2) as ServerKind[]) ports[kind] = await listen(await listeners[kind]());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.on('disconnect', () => process.exit());
process.send?.(ports);

async function listen(listener: RequestListener): Promise<number> {
  // The connections wait while the other servers have their turn.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  return listeningPort(server);
}
