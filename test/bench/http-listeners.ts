import { createHmac, hash } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import Stripe from 'stripe';
import { builtUrl } from './built-entries.ts';
import { listenerOf } from './http-fetch-adapter.ts';
import { stripeSecret } from './http-requests.ts';
import { sampleKey } from './sample-event.ts';

type WebhooksEntry = typeof import('../../src/webhooks/index.ts');

/** What is compared: ways of receiving the same delivery, on node:http and over `Request` and `Response`. */
export const listeners = {
  bare: () => bare,
  least: () => least,
  stripe: () => stripe,
  webhooks: async () => (await webhooks()).node,
  'bare fetch': () => listenerOf(bareFetch),
  'stripe fetch': () => listenerOf(stripeFetch),
  'webhooks fetch': async () => listenerOf((await webhooks()).fetch),
  'bare hono': () => honoListenerOf(bareFetch),
  'stripe hono': () => honoListenerOf(stripeFetch),
  'webhooks hono': async () => honoListenerOf((await webhooks()).fetch),
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

const stripe: RequestListener = (request, response) => {
  readBody(request, (body) => {
    const header = request.headers['stripe-signature'] ?? '';
    constructEvent(body, header, stripeSecret, Number.MAX_SAFE_INTEGER);
    response.writeHead(200, answerHead).end(answer);
  });
};

async function bareFetch(request: Request): Promise<Response> {
  await request.json();
  return new Response(answer, { headers: answerHead });
}

async function stripeFetch(request: Request): Promise<Response> {
  const header = request.headers.get('stripe-signature') ?? '';
  constructEvent(await request.text(), header, stripeSecret, Number.MAX_SAFE_INTEGER);
  return new Response(answer, { headers: answerHead });
}

const { webhooks: stripeWebhooks } = new Stripe('sk_test_bench');
const constructEvent = stripeWebhooks.constructEvent.bind(stripeWebhooks);

/** The adapter of Hono on Node, which makes a whole `Request` only of what is asked for one. */
function honoListenerOf(handle: (request: Request) => Promise<Response>): RequestListener {
  return getRequestListener(handle, { overrideGlobalObjects: false });
}

async function webhooks() {
  const { createWebhooks }: WebhooksEntry = await import(builtUrl('./webhooks'));
  return createWebhooks({ keys: [sampleKey] }).onAny(() => {});
}

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks)));
}
