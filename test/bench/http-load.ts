import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly port: number;
  /** Whole requests, head and body; sent in turn, and again from the start. */
  readonly requests: readonly Buffer[];
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /** Ends after this time, or after this many requests. */
  readonly until: { readonly ms: number } | { readonly count: number };
}

export interface LoadResult {
  readonly answered: number;
  readonly ms: number;
  /** Milliseconds within which 99 of 100 requests were answered. */
  readonly p99: number;
}

let next = 0;

/**
 * Keeps every connection busy. A client of its own, since one of `node:http` takes longer for a request than the
 * server does, and would be what is measured.
 */
export async function runLoad({ port, requests, connections, until }: Load): Promise<LoadResult> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  const latencies: number[] = [];
  const stayAwake = spin();
  const start = performance.now();
  let sent = 0;
  const mayGoOn = () => ('ms' in until ? performance.now() - start < until.ms : sent < until.count);
  const send = (socket: Socket): boolean => {
    if (!mayGoOn()) return false;
    sent++;
    socket.write(requests[next++ % requests.length] ?? '');
    return true;
  };
  await Promise.all(sockets.map((socket) => drive(socket, send, latencies)));
  const ms = performance.now() - start;
  stayAwake.stop();
  for (const socket of sockets) socket.destroy();
  latencies.sort((a, b) => a - b);
  return {
    answered: latencies.length,
    ms,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

/**
 * Keeps this process from going to sleep while it waits. Waking it is work of whoever writes to its socket: a slow
 * server would be charged for more of it than a fast one.
 */
function spin(): { stop(): void } {
  let timer = setImmediate(again);
  function again(): void {
    timer = setImmediate(again);
  }
  return { stop: () => clearImmediate(timer) };
}

function drive(socket: Socket, send: (socket: Socket) => boolean, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = performance.now();
    let seen = '';
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server hung up.')));
    socket.on('data', (part: string) => {
      seen += part;
      // Every server answers alike; one that does not has failed.
      if (!seen.endsWith('{"received":true}')) return;
      if (!seen.startsWith('HTTP/1.1 200')) reject(new Error(seen));
      seen = '';
      latencies.push(performance.now() - begun);
      begun = performance.now();
      if (!send(socket)) resolve();
    });
    if (!send(socket)) resolve();
  });
}
