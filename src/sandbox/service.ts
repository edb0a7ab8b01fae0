import { type Deployment, operationUrl } from '../deployment/define-deployment.ts';
import { type Operation, operationNames, operationRules } from '../deployment/operations.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { SandboxOperation, TimedRequestFault } from './faults/faults.ts';
import type { SandboxSettings } from './options.ts';
import { errorReply, jsonReply, Refusal, readBody } from './requests.ts';
import type { SandboxState } from './state.ts';
import { faultyReply, type WireReply, wireReply } from './wire-reply.ts';

/** Answers a request as it goes over the wire. Never rejects. */
export type Serve = (request: Request, connection: { ip: string }) => Promise<WireReply>;

/** Routes requests, plays faults, and traces everything. */
export function createServe(state: SandboxState, routes: readonly Route[]): Serve {
  const { clock, trace, faults, options } = state;

  return async (request, { ip }) => {
    const url = new URL(request.url);
    const { method } = request;
    // Read first, for the trace. A body that is too large is refused after path, method and type are checked.
    const read = readBody(request, options.maxBodyBytes);
    const body = await read.catch(() => undefined);
    const operation = operationAt(routes, { method, path: url.pathname });
    const order = operation === 'createOrder' ? orderId(state, body) : undefined;
    const traceFacts = { operation, order, method, url: url.href };
    const started = clock.now();
    const headers = Object.fromEntries(request.headers);
    const exchange = trace.add({ kind: 'request', ...traceFacts, headers, body: textOf(body) });
    const fault = faults.forRequest(operation);
    if (fault !== undefined) trace.add(faultFacts(fault, operation, order, exchange));

    const respond = async () => {
      try {
        if (!state.isReady) await state.ready;
        const response = await answer(routes, { request, url, ip: plainIp(ip), readBody: () => read });
        // The change has to be stored before the reply announces it.
        await state.data.commit();
        return response;
      } catch (error) {
        return errorReply(error);
      }
    };
    const serviceReply =
      fault?.when === 'before'
        ? undefined
        : await wireReply(await replyInStyle(await respond(), operation, options));
    // Sound: without a fault the service has answered.
    const reply = fault === undefined ? (serviceReply as WireReply) : await faultyReply(fault, serviceReply);
    trace.add({
      kind: 'reply',
      ...traceFacts,
      exchange,
      ...visibleReply(reply),
      durationMs: clock.now() - started,
      faults: fault === undefined ? [] : [fault.kind],
    });
    return reply;
  };
}

function faultFacts(
  { kind, when }: TimedRequestFault,
  operation: SandboxOperation | undefined,
  order: string | undefined,
  exchange: number,
) {
  const note = `${when} the effect`;
  return { kind: 'fault', operation, order, exchange, faults: [kind], note } as const;
}

function visibleReply({ status, headers, body, transport }: WireReply) {
  switch (transport.kind) {
    case 'reset':
    case 'close':
    case 'stall':
      return {};
    default: {
      const sent = transport.kind === 'truncate' ? body.subarray(0, transport.bytes) : body;
      return { status, headers: Object.fromEntries(headers), body: textOf(sent) };
    }
  }
}

function textOf(body: Uint8Array | undefined): string | undefined {
  return body && new TextDecoder().decode(body);
}

/** The order of a request, for the trace only. */
function orderId({ options }: SandboxState, body: Uint8Array | undefined): string | undefined {
  try {
    const { partner_order_id } = options.readOrder(JSON.parse(textOf(body) ?? ''));
    return typeof partner_order_id === 'string' ? partner_order_id : undefined;
  } catch {
    return undefined;
  }
}

/** IPv4 in its own form, even if a dual-stack socket writes it as IPv6. */
function plainIp(ip: string): string {
  return ip.toLowerCase().startsWith('::ffff:') && ip.includes('.') ? ip.slice(7) : ip;
}

export interface RoutedRequest {
  readonly request: Request;
  readonly url: URL;
  readonly ip: string;
  /** Empty for GET. */
  readonly body: Uint8Array;
}

export interface Route {
  readonly operation: SandboxOperation;
  readonly method: 'GET' | 'POST';
  /** The whole path. One that ends in `/*` matches any last segment. */
  readonly path: string;
  /** The required Content-Type; GET has no body. */
  readonly content: 'json' | 'any' | 'none';
  readonly handle: (call: RoutedRequest) => Response | Promise<Response>;
}

/** How the sandbox answers each operation. Method and path come from the table of operations. */
export type OperationHandlers = Readonly<Record<Operation, Pick<Route, 'content' | 'handle'>>>;

/** A route for each operation. An operation without a path, published or configured, has none. */
export function operationRoutes(deployment: Deployment<unknown>, handlers: OperationHandlers): Route[] {
  const reachable = operationNames.filter((operation) => deployment.paths[operation] !== undefined);
  return reachable.map((operation) => {
    // The prefix of the base URL is the same at every address of the sandbox.
    const path = new URL(operationUrl(deployment, operation)).pathname;
    return { operation, method: operationRules(operation).method, path, ...handlers[operation] };
  });
}

/** @throws {ConfigurationError} `invalid_deployment` if two operations share an address */
export function checkRoutes(routes: readonly Route[]): readonly Route[] {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const address = `${method} ${path}`;
    if (seen.has(address)) {
      throw new ConfigurationError('invalid_deployment', `Two operations have the address ${address}.`);
    }
    seen.add(address);
  }
  return routes;
}

function operationAt(
  routes: readonly Route[],
  { method, path }: { method: string; path: string },
): SandboxOperation | undefined {
  return routes.find((route) => route.method === method && matches(route.path, path))?.operation;
}

async function answer(
  routes: readonly Route[],
  { readBody, ...call }: Omit<RoutedRequest, 'body'> & { readBody: () => Promise<Uint8Array> },
): Promise<Response> {
  const route = findRoute(routes, call.request.method, call.url.pathname);
  if (route.content === 'json') requireJsonType(call.request);
  return route.handle({ ...call, body: route.content === 'none' ? new Uint8Array() : await readBody() });
}

function findRoute(routes: readonly Route[], method: string, path: string): Route {
  const here = routes.filter((route) => matches(route.path, path));
  const found = here.find((route) => route.method === method);
  if (found !== undefined) return found;
  if (here.length > 0) {
    const allow = here.map((route) => route.method).join(', ');
    throw new Refusal(405, 'method_not_allowed', `Only ${allow} is answered here.`, { allow });
  }
  const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const hint = routes.some((route) => matches(route.path, slashed)) ? ' Mind the slash at the end.' : '';
  throw new Refusal(404, 'not_found', `Nothing is at this path.${hint}`);
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.endsWith('/*')) return pattern === path;
  const prefix = pattern.slice(0, -1);
  return path.startsWith(prefix) && path.length > prefix.length && !path.slice(prefix.length).includes('/');
}

function requireJsonType(request: Request): void {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
}

/** Keys and signatures appear in these replies alone. */
const revealing: ReadonlySet<SandboxOperation> = new Set(['generateApiKey', 'openLink', 'signRequest']);

/** Changes a reply as the options say (ledger: `replies`, `errors`). */
async function replyInStyle(
  response: Response,
  operation: SandboxOperation | undefined,
  { replies, errorReplies }: SandboxSettings,
): Promise<Response> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  // Also for unknown paths: such a service answers everything with 200.
  if (!response.ok) {
    if (errorReplies === 'status' || !isJson) return response;
    return jsonReply(200, { success: false, ...(await response.json()) });
  }
  if (replies === 'plain' || !isJson || operation === undefined || operation === 'openLink') return response;
  if (replies === 'wrapped') return jsonReply(200, { status: 'success', data: await response.json() });
  if (revealing.has(operation)) return response;
  const headers = { 'cache-control': 'no-store' };
  return replies === 'empty' ? new Response(null, { headers }) : new Response('OK', { headers });
}
