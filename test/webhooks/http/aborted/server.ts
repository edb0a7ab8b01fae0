/** A program of its own, so that only the server's memory and handles are counted. Started by abort-requests.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAdaptorServer } from '@hono/node-server';
import { quietWebhooks } from '../../deliveries.ts';

export interface Figures {
  /** Requests that the webhooks are still busy with. */
  readonly pending: number;
  readonly begun: number;
  readonly handled: number;
  /** Sockets, timers and whatever else keeps a process alive. */
  readonly handles: number;
  /** Bytes, after a collection. */
  readonly memory: number;
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

let begun = 0;
let pending = 0;
let handled = 0;
const webhooks = quietWebhooks({ bodyTimeoutMs: 120_000 }).onAny(() => {
  handled++;
});

async function counted<Result>(work: Promise<Result>): Promise<Result> {
  begun++;
  pending++;
  try {
    return await work;
  } finally {
    pending--;
  }
}

const server =
  process.argv[2] === 'fetch'
    ? createAdaptorServer({ fetch: (request) => counted(webhooks.fetch(request)) })
    : createServer((request, response) => void counted(webhooks.node(request, response)));

function figures(): Figures {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  return { begun, pending, handled, handles, memory: heapUsed + external };
}

process.on('message', () => process.send?.(figures()));
process.on('disconnect', () => process.exit());
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  // Sound: it listens on a port.
  process.send?.((server.address() as AddressInfo).port);
});
