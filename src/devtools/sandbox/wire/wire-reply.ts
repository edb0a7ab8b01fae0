import { type JsonValue, tryParse } from '../../../internal/json.ts';
import type { RequestFaultDetails, RequestFaultName, TimedRequestFault } from '../settings/faults.ts';
import { denialInForm, inForm, replyFormNames, type SandboxReply } from '../settings/reply-forms.ts';
import type { SeededRandom } from '../settings/seeded-random.ts';
import type { ServerReply } from './http-server.ts';
import { jsonReply } from './requests.ts';
import {
  close,
  gzip,
  type ReplyParts,
  reset,
  type SandboxSleep,
  stall,
  type Transport,
  trickle,
  truncate,
  whole,
} from './transports.ts';

export interface WireReply extends ReplyParts {
  readonly transport: Transport;
  /** Whether the service refused, whatever the option `reply` makes of its reply. */
  readonly isRefusal: boolean;
}

export async function wireReply(response: Response): Promise<WireReply> {
  const { status, headers } = response;
  const body = new Uint8Array(await response.arrayBuffer());
  return { status, headers, body, transport: whole, isRefusal: status > 299 };
}

const unavailable = { error: 'unavailable', message: 'The sandbox plays a service that is not available.' };

/** The service's own reply, or a 503 before the effect, and the details of the fault. */
interface FaultPlay<Name extends RequestFaultName> {
  readonly reply: WireReply;
  readonly fault: RequestFaultDetails<Name>;
  readonly random: SeededRandom;
}

/** The reply under a fault. Before the effect, faults that change a reply change a 503. */
export async function faultyReply(
  fault: TimedRequestFault,
  { own, random }: { own: WireReply | undefined; random: SeededRandom },
): Promise<WireReply> {
  const reply = own ?? (await wireReply(jsonReply(503, unavailable)));
  // Sound: `checkFault` has filled in the details of this kind.
  const play = plays[fault.kind] as (play: FaultPlay<never>) => WireReply | Response;
  const played = play({ reply, fault: fault as never, random });
  return played instanceof Response ? wireReply(played) : played;
}

/** Plays every fault of a request. */
const plays: { readonly [Name in RequestFaultName]: (play: FaultPlay<Name>) => WireReply | Response } = {
  reset: ({ reply }) => ({ ...reply, transport: reset }),
  reply_lost: ({ reply }) => ({ ...reply, transport: close }),
  stall: ({ reply }) => ({ ...reply, transport: stall }),
  trickle: ({ reply, fault: { bytes, delayMs } }) => ({ ...reply, transport: trickle(bytes, delayMs) }),
  truncate: ({ reply, fault }) => {
    const { length } = reply.body;
    const headers = new Headers(reply.headers);
    // At least one byte more than is sent.
    headers.set('content-length', String(Math.max(length, 1)));
    const bytes = Math.min(fault.bytes ?? Math.floor(length / 2), Math.max(length - 1, 0));
    return { ...reply, headers, transport: truncate(bytes) };
  },
  too_many_requests: ({ fault }) =>
    jsonReply(
      429,
      { error: 'too_many_requests', message: 'The sandbox plays a service with a rate limit.' },
      { 'retry-after': String(fault.retryAfterSeconds) },
    ),
  server_error: ({ fault }) => jsonReply(fault.status, unavailable),
  redirect: ({ fault: { status, location } }) => new Response(null, { status, headers: { location } }),
  html: ({ fault }) => html(fault.status),
  misdirected: () =>
    jsonReply(421, {
      error: 'misdirected_request',
      message: 'The sandbox plays a connection that is not meant for this host.',
    }),
  ok_with_error: ({ fault }) => jsonReply(200, denialInForm(fault.form, unavailable)),
  wrong_content_type: ({ reply }) => {
    const headers = new Headers(reply.headers);
    headers.set('content-type', 'text/html; charset=utf-8');
    return { ...reply, headers };
  },
  gzip: ({ reply }) => ({ ...reply, transport: gzip }),
  other_reply: ({ reply, fault, random }) => {
    // A refusal in the form of a success would say what no service says.
    if (reply.isRefusal) return reply;
    const drawn = random.pick(replyFormNames) ?? 'text';
    return changedReply(reply, (own) => inForm(own, fault.form ?? drawn));
  },
  other_status: ({ reply, fault }) => changedReply(reply, (own) => ({ ...own, status: fault.status })),
  conflict: ({ fault }) =>
    jsonReply(fault.status, {
      error: 'conflict',
      message: 'The sandbox plays a service that has it already.',
    }),
};

/** The reply after a change of its status, its headers or its body. */
export function changedReply(reply: WireReply, change: (reply: SandboxReply) => SandboxReply): WireReply {
  const { status, headers, body } = change({
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    body: decodedBody(reply),
  });
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const wireHeaders = new Headers(headers);
  if (bodiless.has(status)) wireHeaders.delete('content-type');
  return {
    ...reply,
    status,
    headers: wireHeaders,
    body: new TextEncoder().encode(bodiless.has(status) ? '' : text),
  };
}

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** JSON where the reply says so and is, otherwise its text. */
function decodedBody({ headers, body }: WireReply): JsonValue {
  const text = new TextDecoder().decode(body);
  if (headers.get('content-type') !== 'application/json') return text;
  return tryParse(text) ?? text;
}

function html(status: number): Response {
  const page = `<!doctype html>
<html><head><title>${status} Bad Gateway</title></head>
<body><center><h1>${status} Bad Gateway</h1></center><hr><center>gateway</center></body></html>
`;
  // A status without a body cannot have the page.
  const body = bodiless.has(status) ? null : page;
  return new Response(body, { status, headers: { 'content-type': 'text/html' } });
}

/** A reply for the HTTP server, which plays its fault on the socket. */
export function socketReply(reply: WireReply, sleep: SandboxSleep): ServerReply {
  const { write } = reply.transport;
  return write === undefined ? reply : { ...reply, write: (outgoing) => write(reply, outgoing, sleep) };
}
