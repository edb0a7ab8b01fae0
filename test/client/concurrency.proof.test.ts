import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening } from '../support/listening.ts';
import { type Answer, startServer } from '../support/local-server.ts';
import { times } from '../support/repeat.ts';
import {
  createOrder,
  exchangeAt,
  message,
  messengerAt,
  order,
  requestError,
  sendMessage,
  told,
} from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const ok: Answer = { body: '{"ok":true}' };
const notSent = { code: 'aborted', outcome: 'not-sent', attempts: 0 };

const many = times(300, 10_000);

describe(`${many} calls at once`, () => {
  it.each([
    ['sendMessage', 100, {}],
    ['sendMessage', 20, { concurrency: 20 }],
    ['createOrder', 100, {}],
  ] as const)(
    'of %s have no more than %i connections, and are all answered',
    async (name, most, options) => {
      const server = await startCountingServer();
      const exchange = exchangeAt(server.url, options);
      const messenger = messengerAt(server.url, options);
      const calls = {
        createOrder: () => exchange.createOrder(order),
        sendMessage: () => messenger.sendMessage(message),
      };
      const replies = await Promise.all(Array.from({ length: many }, calls[name]));
      expect(replies.every(({ status }) => status === 200)).toBe(true);
      expect(server.most().connections).toBe(most);
      expect(server.most().requests).toBeLessThanOrEqual(most);
    },
    60_000,
  );
});

it('calls are sent in the order in which they were made', async () => {
  const server = await startServer(ok);
  const messenger = messengerAt(server.url, { concurrency: 1 });
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  await Promise.all(texts.map((text) => messenger.sendMessage({ ...message, message: text })));
  expect(server.requests.map(({ body }) => JSON.parse(String(body)).message)).toEqual(texts);
});

it('a client does not wait for the calls of another', async () => {
  const server = await startServer(() => {}, ok);
  const stuck = new AbortController();
  const first = told(sendMessage(server.url, { concurrency: 1 }, { signal: stuck.signal }));
  await server.received(1);
  expect((await sendMessage(server.url, { concurrency: 1 })).status).toBe(200);
  stuck.abort();
  await first;
});

describe('a call that waits for its turn', () => {
  it('makes no request when it is aborted, and others go on', async () => {
    const held: (() => void)[] = [];
    const server = await startServer((response) => void held.push(() => response.end('{"ok":true}')), ok);
    const messenger = messengerAt(server.url, { concurrency: 1 });
    const controller = new AbortController();
    const first = messenger.sendMessage(message);
    const aborted = Array.from({ length: 50 }, () =>
      told(messenger.sendMessage(message, { signal: controller.signal })),
    );
    const last = messenger.sendMessage({ ...message, message: 'last' });
    await server.received(1);
    controller.abort();
    expect(await Promise.all(aborted)).toEqual(Array(50).fill(notSent));
    held[0]?.();
    expect([(await first).status, (await last).status]).toEqual([200, 200]);
    expect(server.requests).toHaveLength(2);
  });

  it('has all of timeoutMs when its turn comes', async () => {
    // real time: four answers take longer than the limit of each, which leaves one answer more than half a second.
    const server = await startServer((response) => void setTimeout(() => response.end('{"ok":true}'), 400));
    const exchange = exchangeAt(server.url, { concurrency: 1, timeoutMs: 1_000 });
    const replies = await Promise.all(Array.from({ length: 4 }, () => exchange.createOrder(order)));
    expect(replies).toHaveLength(4);
  });

  it('ends after half of totalTimeoutMs, was not sent, and says why', async () => {
    const server = await startServer(() => {});
    const exchange = exchangeAt(server.url, { concurrency: 1, totalTimeoutMs: 1_000 });
    const first = told(exchange.createOrder(order));
    const second = requestError(exchange.createOrder(order));
    // The first has all of the time.
    expect(await Promise.race([first.then(() => 'first'), second.then(() => 'second')])).toBe('second');
    const error = await second;
    expect(error).toMatchObject({ code: 'timeout', outcome: 'not-sent', attempts: 0 });
    expect(error.message).toContain(
      'no reply came in time (its turn did not come: as many requests as concurrency allows were under way)',
    );
    expect(error.message).toContain('; it is safe to repeat.');
    expect(await first).toMatchObject({ code: 'timeout', outcome: 'unknown', attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('has what is left of totalTimeoutMs when its turn comes', async () => {
    const server = await startServer(
      // real time: the second call waits for its turn, for less than half of its time.
      (response) => void setTimeout(() => response.end('{"ok":true}'), 1_000),
      () => {},
    );
    const options = { concurrency: 1, totalTimeoutMs: 4_000 };
    const exchange = exchangeAt(server.url, options);
    const first = exchange.createOrder(order);
    const second = told(exchange.createOrder(order));
    await server.received(2);
    const fromNow = told(createOrder(server.url, options));
    expect(await Promise.race([second, fromNow.then(() => 'all of its time')])).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
    });
    await Promise.all([first, fromNow]);
  });
});

describe('the turn of a call ends', () => {
  it.each<[string, Answer]>([
    ['with an error', { status: 500 }],
    ['with a redirect', { status: 302, headers: { location: '/' } }],
    ['with a broken connection', (response) => void response.destroy()],
    [
      'with a broken reply',
      (response) =>
        void response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    ],
    ['with a time-out', () => {}],
  ])('%s', async (_, answer) => {
    const server = await startServer(answer, answer, ok);
    const exchange = exchangeAt(server.url, { concurrency: 1, timeoutMs: 1_000 });
    const calls = [exchange.createOrder(order), exchange.createOrder(order), exchange.createOrder(order)];
    const statuses = await Promise.all(
      calls.map((call) =>
        call.then(
          ({ status }) => status,
          () => 'failed',
        ),
      ),
    );
    expect(statuses).toEqual(['failed', 'failed', 200]);
  });

  it('when it is refused by its schema or by the caller', async () => {
    const server = await startServer(ok);
    const exchange = exchangeAt(server.url, { concurrency: 1 });
    const failing = {
      '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
    } as const;
    await requestError(exchange.createOrder(order, { schema: failing }));
    await requestError(exchange.createOrder(order, { signal: AbortSignal.abort() }));
    expect((await exchange.createOrder(order)).status).toBe(200);
  });

  it('with a time-out also if a fetch of its own does not end', async () => {
    const server = await startServer(ok);
    let sent = 0;
    const endless = (request: Request) => (sent++ === 0 ? new Promise<never>(() => {}) : fetch(request));
    const exchange = exchangeAt(server.url, { concurrency: 1, timeoutMs: 1_000, fetch: endless });
    const [first, second] = [told(exchange.createOrder(order)), exchange.createOrder(order)];
    expect(await first).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    expect((await second).status).toBe(200);
  });

  it('while it waits before it is repeated: another call goes first', async () => {
    const server = await startServer({ status: 503 }, ok);
    const exchange = exchangeAt(server.url, { concurrency: 1, retry: { firstDelayMs: 200 } });
    const repeated = exchange.whitelistIp({ call: 1 });
    await server.received(1);
    const other = exchange.whitelistIp({ call: 2 });
    expect([(await repeated).status, (await other).status]).toEqual([200, 200]);
    expect(server.requests.map(({ body }) => JSON.parse(String(body)).call)).toEqual([1, 2, 1]);
  });
});

describe('a call that is to be repeated', () => {
  const waitsAgain = async () => {
    const held: (() => void)[] = [];
    const server = await startServer(
      { status: 503 },
      (response) => void held.push(() => response.end('{"ok":true}')),
      ok,
    );
    return { server, release: () => held[0]?.() };
  };

  it('waits for its turn again', async () => {
    const { server, release } = await waitsAgain();
    const exchange = exchangeAt(server.url, { concurrency: 1, retry: { firstDelayMs: 50 } });
    const repeated = exchange.whitelistIp({ call: 1 });
    const other = exchange.whitelistIp({ call: 2 });
    await server.received(2);
    // real time: a call that did not wait would be sent meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(server.requests).toHaveLength(2);
    release();
    await Promise.all([repeated, other]);
    expect(server.requests.map(({ body }) => JSON.parse(String(body)).call)).toEqual([1, 2, 1]);
  });

  it('can be aborted meanwhile', async () => {
    const { server, release } = await waitsAgain();
    const exchange = exchangeAt(server.url, { concurrency: 1, retry: { firstDelayMs: 50 } });
    const controller = new AbortController();
    const repeated = told(exchange.whitelistIp({}, { signal: controller.signal }));
    const other = exchange.whitelistIp({});
    await server.received(2);
    // real time: the end is the same before the turn is waited for.
    setTimeout(() => controller.abort(), 200);
    expect(await repeated).toEqual({ code: 'aborted', outcome: 'unknown', status: 503, attempts: 1 });
    release();
    await other;
    expect((await exchange.whitelistIp({})).status).toBe(200);
    expect(server.requests).toHaveLength(3);
  });

  it('ends when its turn does not come in time, and leaves the queue', async () => {
    const { server, release } = await waitsAgain();
    const options = { concurrency: 1, retry: { firstDelayMs: 50 }, totalTimeoutMs: 1_000 };
    const exchange = exchangeAt(server.url, options);
    const repeated = told(exchange.whitelistIp({}));
    const other = told(exchange.whitelistIp({}));
    expect(await repeated).toMatchObject({ code: 'timeout', attempts: 1 });
    await other;
    release();
    expect((await exchange.whitelistIp({})).status).toBe(200);
  });
});

it('one place is enough for a call that is repeated often', async () => {
  const server = await startServer({ status: 503 }, { status: 503 }, { status: 503 }, ok);
  const exchange = exchangeAt(server.url, { concurrency: 1, maxAttempts: 4 });
  expect((await exchange.whitelistIp()).status).toBe(200);
  expect((await createOrder(server.url, { concurrency: 1 })).status).toBe(200);
});

/** Counts how many connections and requests there are at a time, and answers a little later. */
async function startCountingServer() {
  let [connections, requests, mostConnections, mostRequests] = [0, 0, 0, 0];
  const server = createServer((request, response) => {
    mostRequests = Math.max(mostRequests, ++requests);
    request.resume().on('end', () => {
      // real time: further requests arrive before the answer.
      setTimeout(() => {
        requests--;
        response.end('{"ok":true}');
      }, 2);
    });
  });
  server.on('connection', (socket) => {
    mostConnections = Math.max(mostConnections, ++connections);
    socket.on('close', () => connections--);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: await listening(server),
    most: () => ({ connections: mostConnections, requests: mostRequests }),
  };
}
