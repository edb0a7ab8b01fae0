import { describe, expect, it } from 'vitest';
import { startServer } from '../support/local-server.ts';
import { createOrder, requestError, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const beforeSending = { code: 'aborted', outcome: 'not-sent', attempts: 0 };

describe('aborting', () => {
  it('before the call makes no request, and keeps the reason as the cause', async () => {
    const signal = AbortSignal.abort(new Error('shutting down'));
    const server = await startServer({});
    const error = await requestError(createOrder(server.url, {}, { signal }));
    expect(error).toMatchObject(beforeSending);
    expect(server.requests).toHaveLength(0);
    expect(error.cause).toMatchObject({ message: 'shutting down' });
  });

  it('right after calling makes no request', async () => {
    const server = await startServer({});
    const controller = new AbortController();
    const call = createOrder(server.url, {}, { signal: controller.signal });
    controller.abort();
    expect(await told(call)).toEqual(beforeSending);
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['createOrder', createOrder],
    ['whitelistIp', whitelistIp],
  ])('while the service works leaves the outcome of %s unknown, and sends nothing more', async (_, run) => {
    const server = await startServer(() => {});
    const controller = new AbortController();
    const call = told(run(server.url, {}, { signal: controller.signal }));
    await server.received(1);
    controller.abort();
    expect(await call).toEqual({ code: 'aborted', outcome: 'unknown', attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  it('while the reply is read leaves the outcome unknown', async () => {
    const server = await startServer((response) => {
      response.writeHead(200).write('{');
    });
    const controller = new AbortController();
    const fetchAndAbort = async (request: Request) => {
      const response = await fetch(request);
      setImmediate(() => controller.abort());
      return response;
    };
    const call = createOrder(server.url, { fetch: fetchAndAbort }, { signal: controller.signal });
    expect(await told(call)).toMatchObject({ code: 'aborted', outcome: 'unknown', attempts: 1 });
  });

  it('between two attempts leaves unknown what was unknown', async () => {
    const server = await startServer({ status: 503 });
    const controller = new AbortController();
    const call = whitelistIp(
      server.url,
      { retry: { firstDelayMs: 600_000, maxDelayMs: 600_000 }, onResponse: () => controller.abort() },
      { signal: controller.signal },
    );
    expect(await told(call)).toEqual({ code: 'aborted', outcome: 'unknown', status: 503, attempts: 1 });
  });
});
