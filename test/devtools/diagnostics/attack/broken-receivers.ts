import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { CaseId } from '../../../../src/devtools/diagnostics/attack/case-table.ts';
import type { FindingId } from '../../../../src/devtools/diagnostics/attack/findings.ts';
import type { Verdict } from '../../../../src/devtools/diagnostics/finding.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { orderKey } from '../../../support/bodies.ts';
import { listening } from '../../../support/listening.ts';

type Reply = readonly [status: number, text: string, headers?: Readonly<Record<string, string>>];

/** What a receiver does at each step; a broken one replaces one of them. */
interface Steps {
  /** Most bytes of a body. */
  limit: number;
  /** Milliseconds for a whole request to arrive. */
  requestTimeout: number;
  /** Runs before the signature is checked. */
  before: (text: string, acting: Acting, request: IncomingMessage) => void | Promise<void>;
  decode: (body: Buffer) => string;
  /** Throws for what is not authentic. */
  verify: (text: string, request: IncomingMessage) => JsonObject;
  /** The order that a table with its own collation, or a short column, finds under an id. */
  idOf: (partnerOrderId: string) => string;
  /** The answer to what `verify` threw. */
  refuse: (error: unknown, text: string) => Reply;
  act: (event: JsonObject, acting: Acting) => void | Promise<void>;
}

export interface Acting {
  /** Counts that the order was acted on. */
  count(event: JsonObject): void;
  readonly seen: Set<string>;
  /** Ends the server, as a process that crashed. */
  crash(): void;
}

/**
 * A receiver with a name for its defect, and all findings and verdicts that this defect must give; every other case
 * must be ok.
 */
export interface BrokenReceiver {
  readonly name: string;
  readonly steps: Partial<Steps>;
  readonly findings: readonly FindingId[];
  readonly finds: Readonly<Partial<Record<CaseId, Verdict>>>;
  /** Milliseconds to wait for it: for those that do not answer. @default 5000 */
  readonly timeoutMs?: number;
}

class Refusal extends Error {}

/** An order and its step: what an effect is known by. */
const keyOf = ({ partner_order_id, event_name }: JsonObject) => `${partner_order_id} ${event_name}`;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const soundSteps: Steps = {
  limit: 65_536,
  requestTimeout: 300,
  before: () => {},
  decode: (body) => strict.decode(body),
  verify: (text) => verifyBody(text, { key: orderKey }).value,
  idOf: (id) => id,
  refuse: () => [401, 'refused'],
  act(event, { seen, count }) {
    const key = keyOf(event);
    if (seen.has(key)) return;
    seen.add(key);
    count(event);
  },
};

/** A receiver on a port of this machine, and how often it has acted on each order. */
export async function startReceiver(own: Partial<Steps> = {}) {
  const steps = { ...soundSteps, ...own };
  const counts = new Map<string, number>();
  let isDown = false;
  const acting: Acting = {
    seen: new Set(),
    count(event) {
      const id = steps.idOf(String(event.partner_order_id));
      counts.set(id, (counts.get(id) ?? 0) + 1);
    },
    crash() {
      isDown = true;
      server.close();
      server.closeAllConnections();
    },
  };
  const { requestTimeout } = steps;
  const server = createServer({ requestTimeout, connectionsCheckingInterval: 50 }, (request, response) => {
    receive(steps, acting, request).then(
      (reply) => answer(response, reply),
      () => answer(response, [500, 'failed']),
    );
  });
  const origin = await listening(server);
  return {
    url: `${origin}/orders`,
    handled: (id: string) => counts.get(steps.idOf(id)) ?? 0,
    /** The same receiver, without a connection. */
    async fetch(...given: Parameters<typeof fetch>): Promise<Response> {
      const request = new Request(...given);
      const { pathname, search } = new URL(request.url);
      const { method } = request;
      const body = Readable.from([Buffer.from(await request.arrayBuffer())]);
      const parts = { method, url: pathname + search, headers: Object.fromEntries(request.headers) };
      // Sound: the steps read no other part of a request.
      const received = Object.assign(body, parts) as unknown as IncomingMessage;
      const failed: Reply = [500, 'failed'];
      const [status, text, more] = await receive(steps, acting, received).catch(() => failed);
      if (isDown) throw new TypeError('fetch failed');
      return new Response(text, { status, headers: { 'content-type': 'text/plain', ...more } });
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function receive(steps: Steps, acting: Acting, request: IncomingMessage): Promise<Reply> {
  if (request.method !== 'POST') return [405, 'only POST'];
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= steps.limit) chunks.push(chunk);
  }
  if (size > steps.limit) return [413, 'too large'];
  let event: JsonObject;
  let text = '';
  try {
    text = steps.decode(Buffer.concat(chunks));
    await steps.before(text, acting, request);
    event = steps.verify(text, request);
  } catch (error) {
    return steps.refuse(error, text);
  }
  await steps.act(event, acting);
  return [200, 'received'];
}

function answer(response: ServerResponse, [status, text, more]: Reply): void {
  if (!response.destroyed) response.writeHead(status, { 'content-type': 'text/plain', ...more }).end(text);
}

function parse(text: string): JsonObject {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('not JSON');
  }
}

function claims(event: unknown): JsonObject {
  return typeof event === 'object' && event !== null && !Array.isArray(event) ? Object(event) : {};
}

/** Takes orders for one whose ids are alike in this form, as a column does. */
function actingOn(idOf: (id: string) => string, { countsAlike = false } = {}): Partial<Steps> {
  return {
    ...(countsAlike && { idOf }),
    act(event, { seen, count }) {
      const key = `${idOf(String(event.partner_order_id))} ${event.event_name}`;
      if (seen.has(key)) return;
      seen.add(key);
      count(event);
    },
  };
}

/** Takes no more events of an order once three deliveries about it were forged. */
function lockingOrders(how: 'refuses' | 'drops'): Partial<Steps> {
  const forged = new Map<unknown, number>();
  const isLocked = (id: unknown) => (forged.get(id) ?? 0) >= 3;
  return {
    verify(text, request) {
      const { partner_order_id: id } = claims(parse(text));
      if (how === 'refuses' && isLocked(id)) throw new Refusal('locked');
      try {
        return soundSteps.verify(text, request);
      } catch (error) {
        if (id !== undefined) forged.set(id, (forged.get(id) ?? 0) + 1);
        throw error;
      }
    },
    act(event, acting) {
      if (!isLocked(event.partner_order_id)) return soundSteps.act(event, acting);
    },
  };
}

/** Faults that `receivers.py` does not have. */
export const brokenReceivers: readonly BrokenReceiver[] = [
  {
    name: 'finds orders without regard to case',
    steps: actingOn((id) => id.toLowerCase(), { countsAlike: true }),
    findings: ['order-id-case'],
    finds: { 'order-id-case': 'broken' },
  },
  {
    name: 'guards effects without regard to case, and counts exactly',
    steps: actingOn((id) => id.toLowerCase()),
    findings: ['order-id-case'],
    finds: { 'order-id-case': 'broken' },
  },
  {
    name: 'compares order ids without hyphens',
    steps: actingOn((id) => id.replaceAll('-', ''), { countsAlike: true }),
    findings: ['order-id-hyphens'],
    finds: { 'order-id-hyphens': 'broken' },
  },
  {
    name: 'cuts order ids to 16 characters',
    steps: actingOn((id) => id.slice(0, 16), { countsAlike: true }),
    findings: ['order-id-length'],
    finds: { 'order-id-case': 'broken', 'order-id-hyphens': 'broken', 'order-id-length': 'broken' },
  },
  {
    name: 'locks an order after three forgeries that name it',
    steps: lockingOrders('refuses'),
    findings: ['forged-often'],
    finds: { 'forged-often': 'broken' },
  },
  {
    name: 'drops the events of an order after three forgeries that name it',
    steps: lockingOrders('drops'),
    findings: ['forged-often'],
    finds: { 'forged-often': 'broken' },
  },
  {
    name: 'reads only what says that it is JSON',
    steps: {
      before(_text, _acting, { headers }) {
        if (headers['content-type'] !== 'application/json') throw new Refusal('no JSON');
      },
    },
    findings: ['authentic-content-type'],
    finds: { 'authentic-content-type': 'broken' },
  },
  {
    name: 'never answers an empty body',
    steps: {
      before: (text) => (text === '' ? new Promise(() => {}) : undefined),
    },
    findings: ['not-json'],
    finds: { 'not-json': 'broken' },
    timeoutMs: 2_000,
  },
];
