import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { listening } from './listening.ts';

/** A request as it came over the wire. */
export interface ReceivedRequest {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** `performance.now()` at its arrival. */
  readonly at: number;
}

export interface FixedAnswer {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default none; with status 200 `{}`, since an order is accepted by a JSON object */
  readonly body?: string | Uint8Array;
}

/** A fixed answer, or a function that gives one, late, broken or never. Runs when the request is read. */
export type Answer = FixedAnswer | ((response: ServerResponse, request: ReceivedRequest) => void);

export interface LocalServer {
  /** `http://127.0.0.1:<port>`, without a slash. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when this many requests have been read. */
  received(count: number): Promise<void>;
  /** Refuses connections from now on. */
  stopListening(): void;
}

/**
 * A real HTTP server on a port of the system's choice, closed when the test is over. The answers are given one
 * after the other; the last one again and again.
 */
export async function startServer(...answers: [Answer, ...Answer[]]): Promise<LocalServer> {
  const requests: ReceivedRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((incoming, response) => {
    void readAll(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body, at: performance.now() };
      requests.push(request);
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
      give(answers[requests.length - 1] ?? answers.at(-1) ?? {}, response, request);
    });
  });
  const url = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    requests,
    received: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    stopListening: () => server.close(),
  };
}

/** A bare TCP server; `answer` runs when a whole request is there, or at once on connecting with `reads: false`. */
export async function startTcpServer(
  answer: (socket: Socket) => void,
  options: { reads: boolean } = { reads: true },
): Promise<{ readonly url: string; readonly connections: () => number }> {
  const sockets = new Set<Socket>();
  const server = createNetServer({ pauseOnConnect: !options.reads }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (!options.reads) return answer(socket);
    let seen = '';
    socket.setEncoding('latin1').on('data', (part) => {
      seen += part;
      if (isWholeRequest(seen)) answer(socket);
    });
  });
  const url = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url, connections: () => sockets.size };
}

/** A server that writes a part of a reply, and never ends it nor the connection. */
export async function startHangingServer(reply: string) {
  const received = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = createNetServer((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => closed.resolve());
    socket.on('data', () => {
      if (reply !== '') socket.write(reply);
      received.resolve();
    });
  });
  const url = await listening(server);
  onTestFinished(() => void server.close());
  return { url, received: received.promise, closed: closed.promise };
}

/** An address at which nothing listens any more. */
export async function closedUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  try {
    for await (const part of incoming) parts.push(part);
  } catch {
    // The client went away: what came is what there is.
  }
  return Buffer.concat(parts);
}

function give(answer: Answer, response: ServerResponse, request: ReceivedRequest): void {
  if (typeof answer === 'function') answer(response, request);
  else {
    const { status = 200, headers, body = status === 200 ? '{"ok":true}' : undefined } = answer;
    response.writeHead(status, headers).end(body);
  }
}

function isWholeRequest(seen: string): boolean {
  const headEnd = seen.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(seen.slice(0, headEnd))?.[1] ?? '0';
  return seen.length >= headEnd + 4 + Number(length);
}
