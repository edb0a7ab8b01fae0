import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOrder, told } from './clients.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** A server that stops after a part of its reply, and tells when the connection is gone. */
async function hangingServer(reply: string) {
  const closed = Promise.withResolvers<void>();
  const received = Promise.withResolvers<void>();
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => closed.resolve());
    socket.on('data', () => {
      if (reply !== '') socket.write(reply);
      received.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return { url: `http://127.0.0.1:${address.port}`, received: received.promise, closed: closed.promise };
}

/** What nobody refers to is gone afterwards. */
async function forgetRequests() {
  for (let turn = 0; turn < 8; turn++) {
    await wait(10);
    collectGarbage();
  }
}

const fetches = [
  ['the platform’s fetch', {}],
  ['a fetch of your own', { fetch: (request: Request) => fetch(request) }],
] as const;
const replies = [
  ['before the reply', ''],
  ['in the head of the reply', 'HTTP/1.1 200 OK\r\ncontent-'],
  ['in the body of the reply', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'],
] as const;
const cases = fetches.flatMap(([of, options]) =>
  replies.map(([when, reply]) => ({ of, options, when, reply })),
);

// Node follows the signal of a Request only as long as the Request itself is not garbage-collected.
describe('a server that hangs, after a garbage collection', () => {
  it.each(cases)('$when: an abort ends a call with $of at once', async ({ options, reply }) => {
    const server = await hangingServer(reply);
    const controller = new AbortController();
    const call = told(createOrder(server.url, options, { signal: controller.signal }));
    await server.received;
    await forgetRequests();
    controller.abort();
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'unknown', attempts: 1 });
    await server.closed;
  });

  it.each(cases)('$when: a time-out of a call with $of closes the connection', async ({ options, reply }) => {
    const server = await hangingServer(reply);
    const call = told(createOrder(server.url, { ...options, timeoutMs: 500, maxAttempts: 1 }));
    await server.received;
    await forgetRequests();
    expect(await call).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    await server.closed;
  });
});
