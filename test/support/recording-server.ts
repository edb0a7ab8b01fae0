import { createServer, type Socket } from 'node:net';
import { listening } from './listening.ts';

/** A request as it came over the wire, as far as it came. */
export interface RecordedRequest {
  /** The second segment of its path: what the test calls it. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its body came to its end. */
  whole: boolean;
  /** Whether the connection had carried another one before. */
  readonly reusedConnection: boolean;
}

export interface RecordingServer {
  /** `http://127.0.0.1:<port>`, without a slash. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  close(): void;
}

type Act = (socket: Socket, stopListening: () => void) => void;

/** What the server can do once the body is there: the first segment of the request's path. */
const afterBody: Readonly<Record<string, Act>> = {
  'answer-200': answer(200),
  'answer-200-then-close': (socket) => socket.end(response(200, 'x-test: 1')),
  'answer-307': answer(307, 'location: /answer-200/elsewhere'),
  'answer-408-and-close': answerAndClose(408),
  'answer-421': answer(421),
  'answer-421-and-close': answerAndClose(421),
  'answer-421-and-refuse-connections': (socket, stopListening) => {
    stopListening();
    answerAndClose(421)(socket, stopListening);
  },
  close: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  'break-off-in-head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'continue-then-answer': answer(200),
  'continue-then-close': (socket) => socket.end(),
};

/** What it can do once it has the head. */
const afterHead: Readonly<Record<string, Act>> = {
  'answer-401-after-head': answerAndClose(401),
  'close-after-head': (socket) => socket.destroy(),
  'reset-after-head': (socket) => socket.resetAndDestroy(),
  'continue-then-answer': (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
  'continue-then-close': (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
};

/** What it can do in the middle of a body of more than 64 KiB. */
const inBody: Readonly<Record<string, Act>> = {
  'reset-in-body': (socket) => socket.resetAndDestroy(),
};

/**
 * A TCP server that reads HTTP/1.1 by itself, does what the path asks for (`/answer-421/<id>`), and records every
 * request, so that one sent by the platform without being asked to is seen. `/requests/<id>` answers with the record,
 * which may be shared with other servers.
 */
export async function startRecordingServer(requests: RecordedRequest[] = []): Promise<RecordingServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    record(socket, requests, () => server.close());
  });
  return {
    url: await listening(server),
    requests,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function record(socket: Socket, requests: RecordedRequest[], stopListening: () => void): void {
  let unread = '';
  let current: (RecordedRequest & { behaviour: string; done: Set<unknown> }) | undefined;
  let carried = 0;
  const act = (acts: Readonly<Record<string, Act>>) => {
    const does = current && acts[current.behaviour];
    if (current === undefined || does === undefined || current.done.has(acts)) return;
    current.done.add(acts);
    does(socket, stopListening);
  };
  socket.setEncoding('latin1').on('data', (part) => {
    unread += part;
    for (;;) {
      const end = unread.indexOf('\r\n\r\n');
      if (socket.destroyed || end < 0) return;
      if (current === undefined) {
        const [line = '', ...fields] = unread.slice(0, end).split('\r\n');
        const [, behaviour = '', id = ''] = line.split(' ')[1]?.split('/') ?? [];
        const headers = Object.fromEntries(fields.map(splitField));
        current = { id, headers, whole: false, reusedConnection: carried++ > 0, behaviour, done: new Set() };
        if (behaviour !== 'requests') requests.push(current);
      }
      act(afterHead);
      const rest = unread.slice(end + 4);
      if (rest.length > 65_536) act(inBody);
      const length = bodyLength(current.headers, rest);
      if (length === undefined || socket.destroyed) return;
      current.whole = true;
      if (current.behaviour === 'requests') reply(socket, requests, current.id);
      else act(afterBody);
      unread = rest.slice(length);
      current = undefined;
    }
  });
}

function splitField(field: string): [string, string] {
  const colon = field.indexOf(':');
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}

/** Bytes of the body on the wire; `undefined` while it is not all there. */
function bodyLength(headers: Readonly<Record<string, string>>, rest: string): number | undefined {
  if (headers['transfer-encoding'] === 'chunked') {
    const end = /(?:^|\r\n)0\r\n\r\n/.exec(rest);
    return end ? end.index + end[0].length : undefined;
  }
  const length = Number(headers['content-length'] ?? 0);
  return rest.length < length ? undefined : length;
}

function reply(socket: Socket, requests: readonly RecordedRequest[], id: string): void {
  const body = JSON.stringify(requests.filter((request) => request.id === id));
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

function answer(status: number, header = 'x-test: 1'): Act {
  return (socket) => socket.write(response(status, header));
}

function answerAndClose(status: number): Act {
  return (socket) => socket.end(response(status, 'connection: close'));
}

function response(status: number, header: string): string {
  return `HTTP/1.1 ${status} Test\r\ncontent-length: 11\r\n${header}\r\n\r\n{"ok":true}`;
}
