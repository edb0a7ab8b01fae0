import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadTarget {
  readonly port: number;
  /** Whole requests, head and body; sent in turn, and again from the start. */
  readonly requests: readonly Buffer[];
  /** Connections, each with one request at a time. */
  readonly connections: number;
}

/** A run ends after this time, or after this many requests. */
export type Until = { readonly ms: number } | { readonly count: number };

export interface LoadResult {
  readonly answered: number;
  readonly ms: number;
  /** Milliseconds within which 99 of 100 requests were answered. */
  readonly p99: number;
}

/** Connections that stay open from one run to the next. */
export interface Load {
  /** Keeps every connection busy. */
  run(until: Until): Promise<LoadResult>;
  close(): void;
}

/**
 * A client of its own, since one of `node:http` takes longer for a request than the server does, and would be what is
 * measured.
 */
export async function openLoad({ port, requests, connections }: LoadTarget): Promise<Load> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return socket.setEncoding('latin1');
    }),
  );
  // For each server on its own: none gets a request again while it remembers it.
  let next = 0;
  return {
    async run(until) {
      const latencies: number[] = [];
      const stayAwake = spin();
      const start = performance.now();
      let sent = 0;
      const send = (socket: Socket): boolean => {
        if (!('ms' in until ? performance.now() - start < until.ms : sent < until.count)) return false;
        sent++;
        socket.write(requests[next++ % requests.length] ?? '');
        return true;
      };
      await Promise.all(sockets.map((socket) => drive(socket, send, latencies)));
      const ms = performance.now() - start;
      stayAwake.stop();
      latencies.sort((a, b) => a - b);
      const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
      return { answered: latencies.length, ms, p99 };
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
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
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = performance.now();
  let seen = '';
  const hungUp = () => reject(new Error('The server hung up.'));
  const receive = (part: string) => {
    seen += part;
    // Every server answers alike; one that does not has failed.
    if (!seen.endsWith('{"received":true}')) return;
    if (!seen.startsWith('HTTP/1.1 200')) reject(new Error(seen));
    seen = '';
    latencies.push(performance.now() - begun);
    begun = performance.now();
    if (!send(socket)) resolve();
  };
  socket.on('error', reject).on('close', hungUp).on('data', receive);
  if (!send(socket)) resolve();
  return promise.finally(() => socket.off('error', reject).off('close', hungUp).off('data', receive));
}
