/** One of the servers that are compared, in a process of its own: started by http.ts. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Stripe from 'stripe';
import { builtUrl } from './built-entries.ts';
import { sampleKey } from './sample-event.ts';

export const serverKinds = ['bare', 'verify', 'stripe', 'webhooks'] as const;
export type ServerKind = (typeof serverKinds)[number];

/** What a server has used so far. */
export interface Usage {
  readonly cpuMs: number;
  /** Bytes of the heap and beside it, after a collection. */
  readonly memory: number;
  readonly rss: number;
}

export const stripeSecret = 'whsec_bench';

type Webhooks = typeof import('../../src/webhooks/index.ts');

/** Reads, parses, answers: the least that a receiver has to do. */
const bare: RequestListener = (request, response) => {
  readBody(request, (body) => {
    JSON.parse(body.toString());
    response.writeHead(200, answerHead).end(answer);
  });
};

function stripe(): RequestListener {
  const { webhooks } = new Stripe('sk_test_bench');
  return (request, response) => {
    readBody(request, (body) => {
      const header = request.headers['stripe-signature'] ?? '';
      webhooks.constructEvent(body, header, stripeSecret, Number.MAX_SAFE_INTEGER);
      response.writeHead(200, answerHead).end(answer);
    });
  };
}

/** The least of ours: checked and narrowed; no limits, no memory of what came before, no handler. */
async function verify(): Promise<RequestListener> {
  const { verifyBody, parseOrderEvent } = await import('./built-entries.ts');
  return (request, response) => {
    readBody(request, (body) => {
      parseOrderEvent(verifyBody(body, { key: sampleKey }).value);
      response.writeHead(200, answerHead).end(answer);
    });
  };
}

async function webhooks(): Promise<RequestListener> {
  const { createWebhooks }: Webhooks = await import(builtUrl('./webhooks'));
  return createWebhooks({ keys: [sampleKey] }).onAny(() => {}).node;
}

const answer = '{"received":true}';
const answerHead = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-length': String(answer.length),
};

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks)));
}

if (import.meta.main) {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const listeners = { bare: () => bare, verify, stripe, webhooks };
  // Sound: its parent gives one of them.
  const listener = await listeners[process.argv[2] as ServerKind]();
  const server = createServer(listener);
  process.on('message', (wanted) => {
    const { user, system } = process.cpuUsage();
    if (wanted === 'memory') collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send?.({ cpuMs: (user + system) / 1000, memory: heapUsed + external, rss } satisfies Usage);
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => {
    // Sound: it listens on a port.
    process.send?.((server.address() as AddressInfo).port);
  });
}
