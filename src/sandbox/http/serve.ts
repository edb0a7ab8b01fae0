import type { ResolvedRequestFault, SandboxOperation } from '../faults/fault-table.ts';
import { faultyReply } from '../faults/request-fault.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { errorReply } from './replies.ts';
import { styledReply } from './reply-style.ts';
import { readBody } from './request-body.ts';
import { answer, operationAt, type Route } from './routes.ts';
import { type WireReply, wireReply } from './wire-reply.ts';

/** Answers a request as it goes over the wire. Never rejects. */
export type Serve = (request: Request, connection: { ip: string }) => Promise<WireReply>;

/** Answers requests by the routes, plays the faults that strike, and traces all of it. */
export function createServe(state: SandboxState, routes: readonly Route[]): Serve {
  const { clock, trace, faults, options } = state;

  return async (request, { ip }) => {
    const url = new URL(request.url);
    const { method } = request;
    // Read before all else, for the trace. That it is too large is said in its turn, after path, method and type.
    const read = readBody(request, options.maxBodyBytes);
    const body = await read.catch(() => undefined);
    const operation = operationAt(routes, { method, path: url.pathname });
    const order = operation === 'createOrder' ? orderId(state, body) : undefined;
    const about = { operation, order, method, url: url.href };
    const started = clock.now();
    const headers = Object.fromEntries(request.headers);
    const exchange = trace.add({ kind: 'request', ...about, headers, body: textOf(body) });
    const fault = faults.forRequest(operation);
    if (fault !== undefined) trace.add(faultFacts(fault, operation, order, exchange));

    const respond = async () => {
      try {
        if (!state.isReady) await state.ready;
        const response = await answer(routes, { request, url, ip: plainIp(ip), readBody: () => read });
        // What the reply says has happened must last.
        await state.data.commit();
        return response;
      } catch (error) {
        return errorReply(error);
      }
    };
    const own =
      fault?.when === 'before'
        ? undefined
        : await wireReply(await styledReply(await respond(), operation, options));
    // Sound: without a fault the service has answered.
    const reply = fault === undefined ? (own as WireReply) : await faultyReply(fault, own);
    trace.add({
      kind: 'reply',
      ...about,
      exchange,
      ...shown(reply),
      durationMs: clock.now() - started,
      faults: fault === undefined ? [] : [fault.kind],
    });
    return reply;
  };
}

function faultFacts(
  { kind, when }: ResolvedRequestFault,
  operation: SandboxOperation | undefined,
  order: string | undefined,
  exchange: number,
) {
  const note = `${when} the effect`;
  return { kind: 'fault', operation, order, exchange, faults: [kind], note } as const;
}

/** What of a reply the caller gets to see. */
function shown({ status, headers, body, transport }: WireReply) {
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

/** The order that a request is about, for the trace only. */
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
