import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listeningPort } from './listening.ts';

/** Stands in front of a server that can be away: connections break then, and new ones are refused. */
export interface TcpGate {
  readonly port: number;
  /** Connections that were tried while the server was away. */
  readonly refused: number;
  away(): void;
  back(): void;
  close(): Promise<void>;
}

export async function startGate(server: { readonly host: string; readonly port: number }): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let isAway = false;
  let refused = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const gate = createServer((client) => {
    if (isAway) {
      refused++;
      client.on('error', () => {}).resetAndDestroy();
      return;
    }
    const upstream = connect(server);
    keep(client);
    keep(upstream);
    client.pipe(upstream).on('close', () => client.destroy());
    upstream.pipe(client).on('close', () => upstream.destroy());
  });
  const port = await listeningPort(gate);
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
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
    async close() {
      breakAll();
      gate.close();
      await once(gate, 'close');
    },
  };
}
