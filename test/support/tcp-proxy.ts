import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listeningPort } from './listening.ts';

/** Stands between a client and its server, and breaks what goes through. */
export interface TcpProxy {
  readonly port: number;
  /** Lets the next request that matches through, and breaks the connection instead of passing the reply on. */
  loseReplyTo(match: (request: string) => boolean): { readonly lost: Promise<void> };
  /** Keeps the next request that matches, and all that come after it on its connection, until it is let go. */
  hold(match: (request: string) => boolean): { readonly held: Promise<void>; release(): void };
  close(): Promise<void>;
}

/** A request that has to come in one piece: of a few kilobytes. */
export async function startProxy(serverPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let onRequest: (request: string, client: Socket, server: Socket) => Promise<void> | undefined = () =>
    undefined;
  const proxy = createServer((client) => {
    const server = connect({ port: serverPort, host: '127.0.0.1' });
    let turn: Promise<void> = Promise.resolve();
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      turn = turn.then(async () => {
        await onRequest(data.toString('latin1'), client, server);
        server.write(data);
      });
    });
    server.on('data', (data) => client.write(data));
    client.on('close', () => server.end());
    server.on('close', () => client.destroy());
  });
  return {
    port: await listeningPort(proxy),
    loseReplyTo(match) {
      const { promise: lost, resolve } = Promise.withResolvers<void>();
      onRequest = (request, client, server) => {
        if (!match(request)) return undefined;
        onRequest = () => undefined;
        server.removeAllListeners('data').once('data', () => {
          client.destroy();
          resolve();
        });
        return undefined;
      };
      return { lost };
    },
    hold(match) {
      const { promise: held, resolve } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      onRequest = (request) => {
        if (!match(request)) return undefined;
        onRequest = () => undefined;
        resolve();
        return released;
      };
      return { held, release };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
