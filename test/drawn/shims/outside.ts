/** What the programs take from elsewhere: servers on a free port, databases in memory, no broker. */
import { createServer as create, type RequestListener } from 'node:http';
import { DatabaseSync as Database } from 'node:sqlite';
import { registry } from './registry.ts';

export * from 'node:http';

/** Port 3000 and others of the guides may be taken. */
export function createServer(listener: RequestListener) {
  const server = create(listener);
  const listen = server.listen.bind(server);
  registry.servers.push({ close: () => server.close(() => {}).closeAllConnections() });
  return Object.assign(server, {
    // Sound: of its arguments only the last one counts, which is called when it listens.
    listen: (...given: readonly unknown[]) =>
      listen(0, '127.0.0.1', given.find((each) => typeof each === 'function') as () => void),
  });
}

/** Stays open when the program has ended: its handlers go on. */
export class DatabaseSync extends Database {
  constructor() {
    super(':memory:');
  }

  override close(): void {}
}

/** Of `pg`. */
export class Pool {
  on(): void {}
  async query(): Promise<object> {
    return { rows: [] };
  }
}
export default { Pool };

/** Of `amqplib`. */
export const connect = async () => ({
  on: () => {},
  createConfirmChannel: async () => ({
    assertQueue: async () => {},
    prefetch: async () => {},
    consume: async () => {},
    sendToQueue: () => {},
    waitForConfirms: async () => {},
  }),
});
