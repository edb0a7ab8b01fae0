import { readFileSync } from 'node:fs';
import { constants, createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RecordedRequest } from '../../support/recording-server.ts';

/** Has signed the server's certificate. Both were made for these tests, and are good for 127.0.0.1 until 2126. */
export const authorityFile = join(import.meta.dirname, 'ca.pem');

type Act = (stream: ServerHttp2Stream, session: Http2Session) => void;

/** What the server can do once the body is there: the first segment of the request's path. */
const afterBody: Readonly<Record<string, Act>> = {
  'answer-200': answer(200),
  'answer-408': answer(408),
  'answer-421': answer(421),
  'refuse-stream': (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
  'cancel-stream': (stream) => stream.close(constants.NGHTTP2_CANCEL),
  'go-away': (_, session) => {
    // With 0 as the last stream that was worked on, although this one has been read.
    session.goaway(constants.NGHTTP2_NO_ERROR, 0);
    setImmediate(() => session.destroy());
  },
  close: (_, session) => session.destroy(),
};

/** Speaks HTTP/2 to who can, and records as the server of recording-server.ts does. Others get 426. */
export async function startHttp2Server(requests: RecordedRequest[]): Promise<string> {
  const read = (name: string) => readFileSync(join(import.meta.dirname, name));
  const server = createSecureServer({ key: read('key.pem'), cert: read('cert.pem'), allowHTTP1: true });
  const used = new WeakSet<Http2Session>();
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    const { session } = stream;
    if (session === undefined) return;
    const [, behaviour = '', id = ''] = String(headers[':path']).split('/');
    const length = headers['content-length'];
    const request: RecordedRequest = {
      id,
      headers: length === undefined ? {} : { 'content-length': length },
      whole: false,
      reusedConnection: used.has(session),
    };
    used.add(session);
    requests.push(request);
    stream.on('error', () => {}).resume();
    stream.on('end', () => {
      request.whole = true;
      afterBody[behaviour]?.(stream, session);
    });
  });
  server.on('request', (request, response) => {
    if (request.httpVersionMajor === 1) response.writeHead(426).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Sound: a server that listens on a TCP port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return `https://127.0.0.1:${port}`;
}

function answer(status: number): Act {
  return (stream) => {
    stream.respond({ ':status': status });
    stream.end('{"ok":true}');
  };
}
