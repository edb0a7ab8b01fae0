import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { SandboxClock } from '../clock/sandbox-clock.ts';
import type { WireReply } from './wire-reply.ts';

/** Writes a reply to a socket, with what a fault does to it. */
export async function socketReply(
  reply: WireReply,
  outgoing: ServerResponse,
  { method, clock }: { method: string | undefined; clock: SandboxClock },
): Promise<void> {
  const { transport, body, status } = reply;
  const headers = Object.fromEntries(reply.headers);
  const content = method === 'HEAD' ? undefined : body;
  switch (transport.kind) {
    case 'reset':
      outgoing.socket?.resetAndDestroy();
      return;
    case 'close':
      outgoing.socket?.destroy();
      return;
    case 'stall':
      return;
    case 'whole':
      outgoing.writeHead(status, headers).end(content);
      return;
    case 'gzip': {
      const packed = gzipSync(body);
      outgoing.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': packed.length });
      outgoing.end(content && packed);
      return;
    }
    case 'truncate':
      outgoing.writeHead(status, headers);
      // Destroyed only when the bytes have left: the caller is to see the beginning.
      outgoing.write(body.subarray(0, transport.bytes), () => outgoing.socket?.destroy());
      outgoing.flushHeaders();
      if (transport.bytes === 0) setImmediate(() => outgoing.socket?.destroy());
      return;
    case 'trickle':
      await trickle(reply.body, { ...transport, outgoing: outgoing.writeHead(status, headers), clock });
  }
}

async function trickle(
  body: Uint8Array,
  options: { bytes: number; delayMs: number; outgoing: ServerResponse; clock: SandboxClock },
): Promise<void> {
  const { bytes, delayMs, outgoing, clock } = options;
  const hungUp = new AbortController();
  outgoing.once('close', () => hungUp.abort());
  for (let at = 0; at < body.length && !outgoing.destroyed; at += bytes) {
    if (at > 0) await clock.sleep(delayMs, hungUp.signal);
    outgoing.write(body.subarray(at, at + bytes));
  }
  outgoing.end();
}
