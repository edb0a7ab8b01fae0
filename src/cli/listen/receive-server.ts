import { withoutHopHeaders } from '../../internal/hop-headers.ts';
import { type HttpCall, type HttpServer, startHttpServer } from '../../sandbox/server/http-server.ts';
import type { Delivery } from '../deliveries.ts';
import { pairsOf } from '../post-delivery.ts';
import { refusal, type SenderAnswer } from './receive-delivery.ts';

interface ReceiveOptions {
  readonly port: number;
  readonly host: string;
  /** Further names of the server, e.g. that of a tunnel. */
  readonly allowedHosts: readonly string[];
  readonly maxBodyBytes: number;
  readonly now: () => number;
  /** The limit for a whole request to arrive. @default 10_000 */
  readonly requestTimeoutMs?: number;
  /** Must not reject. */
  readonly receive: (delivery: Delivery) => Promise<SenderAnswer>;
}

/** The server that takes deliveries. Rejects with the system's error, e.g. `EADDRINUSE`. */
export function startReceiveServer(options: ReceiveOptions): Promise<HttpServer> {
  return startHttpServer({
    requestTimeoutMs: 10_000,
    ...options,
    async answer(call) {
      const { status, headers, body } = await answerCall(call, options);
      const own = [
        ['content-length', String(body.byteLength)],
        // We do not read the rest of the body.
        ...(status === 413 ? [['connection', 'close']] : []),
      ] as [string, string][];
      return { status, headers: [...withoutHopHeaders(headers), ...own], body };
    },
  });
}

async function answerCall(
  { method, target, rawHeaders, body }: HttpCall,
  { maxBodyBytes, now, receive }: ReceiveOptions,
): Promise<SenderAnswer> {
  if (method !== 'POST') return refusal(405, 'method_not_allowed', [['allow', 'POST']]);
  if (body.byteLength > maxBodyBytes) return refusal(413, 'body_too_large');
  return receive({
    receivedAt: new Date(now()).toISOString(),
    target: target.startsWith('/') ? target : '/',
    headers: pairsOf(rawHeaders),
    body,
  });
}
