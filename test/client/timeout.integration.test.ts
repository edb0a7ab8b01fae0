import { describe, expect, it } from 'vitest';
import { startServer, startTcpServer } from '../support/local-server.ts';
import { cautious, createOrder, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const timeout = { code: 'timeout', outcome: 'unknown', attempts: 1 };

/** Times out soon, and often: on a busy machine the answer that does come may come late once or twice. */
// real time: the answer that comes late is asked for again.
const patient = { timeoutMs: 150, maxAttempts: 51, retry: { firstDelayMs: 0 } };

describe('a service that does not answer in time', () => {
  it('and has not read the request may still act on it: it is sent once', async () => {
    const server = await startTcpServer(() => {}, { reads: false });
    // real time: nothing is answered, so that a busy machine only ends it later.
    expect(await told(createOrder(server.url, { timeoutMs: 400 }))).toEqual(timeout);
    expect(server.connections()).toBeLessThanOrEqual(1);
  });

  it('and has read the request may still act on it: what acts is sent once', async () => {
    const sendOnce = async ([name, run]: (typeof cautious)[number]) => {
      const server = await startServer(() => {});
      // real time: nothing is answered, so that a busy machine only ends it later.
      expect(await told(run(server.url, { timeoutMs: 400 })), name).toEqual(timeout);
      // None, when the machine is too busy for the server to get to it in time.
      expect(server.requests.length, name).toBeLessThanOrEqual(1);
    };
    await Promise.all(cautious.map(sendOnce));
  });

  it('ends a call also where a fetch of the user never settles', async () => {
    const fetch = () => new Promise<never>(() => {});
    // real time: nothing is answered, so that a busy machine only ends it later.
    expect(await told(createOrder('http://127.0.0.1:1', { fetch, timeoutMs: 400 }))).toEqual(timeout);
  });

  it('is asked again where that does no harm', async () => {
    const server = await startServer(
      () => {},
      () => {},
      { body: '{"ok":true}' },
    );
    expect((await whitelistIp(server.url, patient)).body).toEqual({ ok: true });
    expect(server.requests.length).toBeGreaterThanOrEqual(3);
  });

  it('is given up after the time that the call itself sets', async () => {
    const server = await startServer(() => {});
    // After the client's own time the test would have ended.
    expect(await told(createOrder(server.url, { timeoutMs: 60_000 }, { timeoutMs: 1_000 }))).toEqual(timeout);
  });
});

describe('a reply that does not end in time', () => {
  const cases = [
    { status: 200, outcome: 'unknown' },
    { status: 400, outcome: 'refused' },
  ];

  it('is told with its status and outcome, and the request is not repeated', async () => {
    const check = async ({ status, outcome }: (typeof cases)[number]) => {
      const server = await startServer((response) => {
        response.writeHead(status);
        dribble(response);
      });
      const call = createOrder(server.url, { timeoutMs: 1_000 });
      expect(await told(call)).toEqual({ ...timeout, outcome, status });
      expect(server.requests).toHaveLength(1);
    };
    await Promise.all(cases.map(check));
  });
});

describe('totalTimeoutMs', () => {
  it('ends a call however many attempts are left', async () => {
    const server = await startServer({ status: 503 });
    const options = { totalTimeoutMs: 1_000, maxAttempts: 1_000_001, retry: { firstDelayMs: 1 } };
    const failed = await told(whitelistIp(server.url, options));
    expect(failed).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    expect(failed.attempts).toBeGreaterThan(1);
  });

  it('counts the time of attempts that timed out', async () => {
    const server = await startServer(() => {});
    // All of its attempts would take longer than the test may.
    // real time: nothing is answered, so that a busy machine only ends it later.
    const options = { timeoutMs: 300, totalTimeoutMs: 1_000, maxAttempts: 1_001, retry: { firstDelayMs: 0 } };
    expect(await told(whitelistIp(server.url, options))).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
    });
  });
});

function dribble(response: {
  write(text: string): boolean;
  on(event: 'close', act: () => void): unknown;
}): void {
  const timer = setInterval(() => response.write(' '), 10);
  response.on('close', () => clearInterval(timer));
}
