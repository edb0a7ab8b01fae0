import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { startHangingServer } from '../support/local-server.ts';
import { createOrder, told } from './clients.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What nobody refers to is gone afterwards. */
async function forgetRequests() {
  for (let turn = 0; turn < 2; turn++) {
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
    const server = await startHangingServer(reply);
    const controller = new AbortController();
    const call = told(createOrder(server.url, options, { signal: controller.signal }));
    await server.received;
    await forgetRequests();
    controller.abort();
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'unknown', attempts: 1 });
    await server.closed;
  });

  it.each(cases)('$when: a time-out of a call with $of closes the connection', async ({ options, reply }) => {
    const server = await startHangingServer(reply);
    const call = told(createOrder(server.url, { ...options, timeoutMs: 500, maxAttempts: 1 }));
    await server.received;
    await forgetRequests();
    expect(await call).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    await server.closed;
  });
});
