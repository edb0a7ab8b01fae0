import { type Deployment, operationUrl } from '../../../deployment/define-deployment.ts';
import { type Operation, operationNames, operationRules } from '../../../deployment/operations.ts';
import type { SandboxOperation } from '../settings/faults.ts';
import { hookedReply } from '../settings/hooks.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import { seededRandom } from '../settings/seeded-random.ts';
import {
  errorReply,
  noRoute,
  pathParameters,
  type Refusal,
  readBody,
  requireJsonType,
  routeAt,
} from '../wire/requests.ts';
import { changedReply, faultyReply, type WireReply, wireReply } from '../wire/wire-reply.ts';
import type { SandboxState } from '../world/state.ts';

/** Answers a request as it goes over the wire. Never rejects. */
export type SandboxHandler = (request: Request, connection: { ip: string }) => Promise<WireReply>;

/** Routes requests, plays faults, and traces everything. */
export function sandboxHandler(state: SandboxState, routes: readonly Route[]): SandboxHandler {
  const { clock, trace, faults, options } = state;

  return async (request, { ip }) => {
    const url = new URL(request.url);
    const { method } = request;
    // Read first, for the trace. A body that is too large is refused after path, method and type are checked.
    const read = readBody(request, maxRequestBytes);
    const body = await read.catch(() => undefined);
    const route = routeAt(routes, { method, path: url.pathname });
    const operation = route?.operation;
    const order = operation === 'createOrder' ? orderId(state, body) : undefined;
    const traceFacts = { operation, order, method, url: url.href };
    const started = clock.now();
    const headers = Object.fromEntries(request.headers);
    const exchange = trace.add({ kind: 'request', ...traceFacts, headers, body: textOf(body) });
    const fault = faults.forRequest(operation);
    if (fault !== undefined) {
      const note = `${fault.when} the effect`;
      trace.add({ kind: 'fault', operation, order, exchange, faults: [fault.kind], note });
    }

    const respond = async () => {
      if (route === undefined) throw noService(routes, url.pathname);
      if (route.content === 'json') requireJsonType(request);
      const content = route.content === 'none' ? new Uint8Array() : await read;
      return route.handle(state, { request, url, ip: plainIp(ip), body: content });
    };
    const serviceReply =
      fault?.when === 'before' ? undefined : await hookedResponse(respond, operation, options);
    const random = seededRandom(options.seed, `reply ${exchange}`);
    // Sound: without a fault the service has answered.
    const reply =
      fault === undefined
        ? (serviceReply as WireReply)
        : await faultyReply(fault, { own: serviceReply, random });
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

function noService(routes: readonly Route[], path: string): Refusal {
  const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const isNear = routes.some((route) => pathParameters(route.path, slashed) !== undefined);
  return noRoute(routes, path, `Nothing is at this path.${isNear ? ' Mind the slash at the end.' : ''}`);
}

function visibleReply({ status, headers, body, transport }: WireReply) {
  const sent = transport.sent(body);
  return sent && { status, headers: Object.fromEntries(headers), body: textOf(sent) };
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
  /** The body of a GET is empty. */
  readonly body: Uint8Array;
}

export interface Route {
  readonly operation: SandboxOperation;
  readonly method: 'GET' | 'POST';
  /** The whole path. A segment in braces matches any text. */
  readonly path: string;
  /** The required Content-Type; GET has no body. */
  readonly content: 'json' | 'any' | 'none';
  readonly handle: (state: SandboxState, call: RoutedRequest) => Response | Promise<Response>;
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

/** The reply of the service after the option `reply`, which also sees refusals. */
async function hookedResponse(
  respond: () => Promise<Response>,
  operation: SandboxOperation | undefined,
  { reply: hook }: SandboxSettings,
): Promise<WireReply> {
  const reply = await wireReply(await respond().catch(errorReply));
  if (hook === undefined) return reply;
  try {
    return changedReply(reply, (own) => hookedReply(hook, own, operation));
  } catch (error) {
    return wireReply(errorReply(error));
  }
}

/** Longest request body; the sandbox's choice. */
export const maxRequestBytes = 1024 * 1024;
