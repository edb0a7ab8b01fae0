import { jsonReply } from '../http/replies.ts';
import { type WireReply, wireReply } from '../http/wire-reply.ts';
import type { ResolvedRequestFault } from './fault-table.ts';

const unavailable = { error: 'unavailable', message: 'The sandbox plays a service that is not available.' };

/**
 * The reply that a fault leaves of the service's own. Before the effect there is none: what changes the service's own
 * reply then changes a 503.
 */
export async function faultyReply(
  fault: ResolvedRequestFault,
  own: WireReply | undefined,
): Promise<WireReply> {
  const reply = own ?? (await wireReply(jsonReply(503, unavailable)));
  switch (fault.kind) {
    case 'reset':
      return { ...reply, transport: { kind: 'reset' } };
    case 'reply_lost':
      return { ...reply, transport: { kind: 'close' } };
    case 'stall':
      return { ...reply, transport: { kind: 'stall' } };
    case 'trickle': {
      const { bytes = 16, delayMs = 10 } = fault;
      return { ...reply, transport: { kind: 'trickle', bytes, delayMs } };
    }
    case 'truncate': {
      const { length } = reply.body;
      const headers = new Headers(reply.headers);
      // At least one byte more than comes, whatever was asked for: otherwise nothing would be missing.
      headers.set('content-length', String(Math.max(length, 1)));
      const bytes = Math.min(fault.bytes ?? Math.floor(length / 2), Math.max(length - 1, 0));
      return { ...reply, headers, transport: { kind: 'truncate', bytes } };
    }
    case 'gzip':
      return { ...reply, transport: { kind: 'gzip' } };
    case 'wrong_content_type': {
      const headers = new Headers(reply.headers);
      headers.set('content-type', 'text/html; charset=utf-8');
      return { ...reply, headers };
    }
    default:
      return wireReply(replacement(fault));
  }
}

/** What comes in place of the service's own reply. */
function replacement(fault: ResolvedRequestFault): Response {
  switch (fault.kind) {
    case 'too_many_requests':
      return jsonReply(
        429,
        { error: 'too_many_requests', message: 'The sandbox plays a service with a rate limit.' },
        { 'retry-after': String(fault.retryAfterSeconds ?? 1) },
      );
    case 'redirect':
      return new Response(null, {
        status: fault.status ?? 307,
        headers: { location: fault.location ?? '' },
      });
    case 'html':
      return html(fault.status ?? 502);
    case 'misdirected':
      return jsonReply(421, {
        error: 'misdirected_request',
        message: 'The sandbox plays a connection that is not meant for this host.',
      });
    case 'ok_with_error':
      return jsonReply(200, { success: false, ...unavailable });
    default:
      return jsonReply(fault.status ?? 500, unavailable);
  }
}

function html(status: number): Response {
  const page = `<!doctype html>
<html><head><title>${status} Bad Gateway</title></head>
<body><center><h1>${status} Bad Gateway</h1></center><hr><center>gateway</center></body></html>
`;
  // A status without a body cannot have the page.
  const body = [204, 205, 304].includes(status) ? null : page;
  return new Response(body, { status, headers: { 'content-type': 'text/html' } });
}
