import { createHmac, hash } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import Stripe from 'stripe';
import { builtUrl } from './built-entries.ts';
import { listenerOf } from './http-fetch-adapter.ts';
import { stripeSecret } from './http-requests.ts';
import { sampleCredentials, sampleKey } from './sample-event.ts';

type WebhooksEntry = typeof import('../../src/webhooks/index.ts');

/** What is compared: ways of receiving the same delivery, on node:http and over `Request` and `Response`. */
export const listeners = {
  bare: () => bare,
  least: () => least,
  'stripe once': () => stripeOnce(),
  webhooks: async () => (await webhooks()).node,
  'bare fetch': () => listenerOf(bareFetch),
  'webhooks fetch': async () => listenerOf((await webhooks()).fetch),
} as const satisfies Record<string, () => RequestListener | Promise<RequestListener>>;

export type ServerKind = keyof typeof listeners;

const answer = '{"received":true}';
const answerHead = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-length': String(answer.length),
};

/** Reads, parses, answers. */
const bare: RequestListener = (request, response) => {
  readBody(request, (body) => {
    JSON.parse(body.toString());
    response.writeHead(200, answerHead).end(answer);
  });
};

/** The least that a receiver of ours could do: an HMAC, a digest to know repetitions by, and the parsed value. */
const least: RequestListener = (request, response) => {
  readBody(request, (body) => {
    createHmac('sha512', sampleKey).update(body).digest();
    const text = body.toString();
    hash('sha256', text);
    JSON.parse(text);
    response.writeHead(200, answerHead).end(answer);
  });
};

/** A receiver with stripe's `constructEvent`: it waits for its handler, and handles nothing twice. */
function stripeOnce(): RequestListener {
  const once = handleOnce();
  return async (request, response) => {
    const body = await new Promise<Buffer>((resolve) => readBody(request, resolve));
    const header = request.headers['stripe-signature'] ?? '';
    constructEvent(body, header, stripeSecret, Number.MAX_SAFE_INTEGER);
    await once(body);
    response.writeHead(200, answerHead).end(answer);
  };
}

async function bareFetch(request: Request): Promise<Response> {
  await request.json();
  return new Response(answer, { headers: answerHead });
}

/** Calls a handler that does nothing, unless the body is one of the last 10,000, which ours remember too. */
function handleOnce(): (body: string | Buffer) => Promise<void> {
  const handle = async () => {};
  const known = new Set<string>();
  const ring: string[] = [];
  let oldest = 0;
  return async (body) => {
    const digest = hash('sha256', body);
    if (known.has(digest)) return;
    await handle();
    if (known.size === 10_000) known.delete(ring[oldest] ?? '');
    ring[oldest] = digest;
    oldest = (oldest + 1) % 10_000;
    known.add(digest);
  };
}

const { webhooks: stripeWebhooks } = new Stripe('sk_test_bench');
const constructEvent = stripeWebhooks.constructEvent.bind(stripeWebhooks);

async function webhooks() {
  const { createWebhooks }: WebhooksEntry = await import(builtUrl('./webhooks'));
  return createWebhooks({ credentials: sampleCredentials }).onAny(() => {});
}

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks)));
}
