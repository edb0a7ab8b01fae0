import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../src/client/call-options.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { startHangingServer } from '../support/local-server.ts';
import { createOrder, told } from './clients.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What nobody refers to is gone afterwards. */
async function forgetRequests() {
  for (let turn = 0; turn < 2; turn++) {
    // real time: the collector gets a chance.
    await wait(10);
    collectGarbage();
  }
}

const fetches: [name: string, options: ClientOptions][] = [
  ['the platform’s fetch', {}],
  ['a fetch of your own', { fetch: (request: Request) => fetch(request) }],
];
const replies = [
  ['before the reply', ''],
  ['in the head of the reply', 'HTTP/1.1 200 OK\r\ncontent-'],
  ['in the body of the reply', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'],
] as const;

/** One call for each fetch and each end of the reply; the servers have got the requests. */
function startCalls(options: ClientOptions, callOptions?: CallOptions) {
  const cases = fetches.flatMap(([fetchName, ownFetch]) =>
    replies.map(([when, reply]) => ({ name: `${fetchName}, ${when}`, ownFetch, reply })),
  );
  return Promise.all(
    cases.map(async ({ name, ownFetch, reply }) => {
      const server = await startHangingServer(reply);
      const call = told(createOrder(server.url, { ...options, ...ownFetch }, callOptions));
      await server.received;
      return { name, call, server };
    }),
  );
}

// Node follows the signal of a Request only as long as the Request itself is not garbage-collected.
describe('a server that hangs, after a garbage collection', () => {
  it('an abort ends every call at once', async () => {
    const controller = new AbortController();
    const calls = await startCalls({}, { signal: controller.signal });
    await forgetRequests();
    controller.abort();
    for (const { name, call, server } of calls) {
      expect(await call, name).toMatchObject({ code: 'aborted', outcome: 'unknown', attempts: 1 });
      await server.closed;
    }
  });
});

it('a call with a fetch of your own leaves nothing of its request behind', async () => {
  const requests: WeakRef<Request>[] = [];
  const fetch = async (request: Request) => {
    requests.push(new WeakRef(request));
    return Response.json({ ok: true });
  };
  for (let calls = 0; calls < 5; calls++)
    await createOrder('https://exchange.example', { fetch }, { signal: new AbortController().signal });
  // Node lets go of a signal in one collection, and of what listens to it in the next.
  await forgetRequests();
  await forgetRequests();
  expect(requests.map((request) => request.deref())).toEqual(Array(5).fill(undefined));
});
