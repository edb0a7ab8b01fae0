import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listeningPort } from './listening.ts';

/** Stands between clients and their server, and breaks what goes through. */
export interface TcpProxy {
  readonly port: number;
  /** Connections that were tried while the server was away. */
  readonly refused: number;
  /** Breaks all connections, and refuses new ones until the server is back. */
  away(): void;
  back(): void;
  /** Lets the next request that matches through, and breaks the connection instead of passing the reply on. */
  loseReplyTo(match: (request: string) => boolean): { readonly lost: Promise<void> };
  /** Keeps the next request that matches, and all that come after it on its connection, until it is let go. */
  hold(match: (request: string) => boolean): { readonly held: Promise<void>; release(): void };
  close(): Promise<void>;
}

/** A request that has to come in one piece: of a few kilobytes. */
export async function startProxy(port: number, host = '127.0.0.1'): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [isAway, refused] = [false, 0];
  let onRequest: (request: string, client: Socket, server: Socket) => Promise<void> | undefined = () =>
    undefined;
  const proxy = createServer((client) => {
    if (isAway) {
      refused++;
      client.on('error', () => {}).resetAndDestroy();
      return;
    }
    const server = connect({ port, host });
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
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: await listeningPort(proxy),
    get refused() {
      return refused;
    },
    away() {
      isAway = true;
      breakAll();
    },
    back() {
      isAway = false;
    },
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
      breakAll();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
