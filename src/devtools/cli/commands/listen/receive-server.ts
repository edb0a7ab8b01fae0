import { withoutHopHeaders } from '../../../sandbox/hop-headers.ts';
import { type HttpCall, type HttpServer, startHttpServer } from '../../../sandbox/wire/http-server.ts';
import { pairsOf } from '../../deliveries/post-delivery.ts';
import type { SavedRequest } from '../../deliveries/saved-deliveries.ts';
import { jsonAnswer, type SenderAnswer } from './handle-request.ts';

interface ReceiveOptions {
  readonly port: number;
  readonly host: string;
  /** Further names of the server, e.g. that of a tunnel. */
  readonly allowedHosts: readonly string[];
  readonly now: () => number;
  /** The limit for a whole request to arrive. @default 10_000 */
  readonly requestTimeoutMs?: number;
  /** Must not reject. */
  readonly receive: (delivery: SavedRequest) => Promise<SenderAnswer>;
}

/** Events take a few kilobytes. */
const maxBodyBytes = 1024 * 1024;

/** The server that takes deliveries. Rejects with the system's error, e.g. `EADDRINUSE`. */
export function startReceiveServer(options: ReceiveOptions): Promise<HttpServer> {
  return startHttpServer({
    requestTimeoutMs: 10_000,
    maxBodyBytes,
    ...options,
    async answer(call) {
      const { status, headers, body } = await answerCall(call, options);
      const framing = [
        // Neither has a body, and so no length (RFC 9110, 8.6).
        ...(status === 204 || status === 304 ? [] : [['content-length', String(body.byteLength)]]),
        // We do not read the rest of the body.
        ...(status === 413 ? [['connection', 'close']] : []),
      ] as [string, string][];
      return { status, headers: [...withoutHopHeaders(headers), ...framing], body };
    },
  });
}

async function answerCall(
  { method, target, rawHeaders, body }: HttpCall,
  { now, receive }: ReceiveOptions,
): Promise<SenderAnswer> {
  if (method !== 'POST') return jsonAnswer(405, { error: 'method_not_allowed' }, [['allow', 'POST']]);
  if (body.byteLength > maxBodyBytes) return jsonAnswer(413, { error: 'body_too_large' });
  return receive({
    receivedAt: new Date(now()).toISOString(),
    target: target.startsWith('/') ? target : '/',
    headers: pairsOf(rawHeaders),
    body,
  });
}
