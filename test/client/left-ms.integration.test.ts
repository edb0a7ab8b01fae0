import { describe, expect, it } from 'vitest';
import { startServer } from '../support/local-server.ts';
import { createOrder, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const late = { code: 'timeout', outcome: 'not-sent', attempts: 0 };

describe('leftMs of a call', () => {
  it.each<[string, () => number]>([
    ['nothing is left', () => 0],
    ['it is over', () => -5],
    ['it is no number', () => Number.NaN],
    [
      'it throws',
      () => {
        throw new Error('no clock');
      },
    ],
  ])('keeps the request back when %s', async (_, leftMs) => {
    const server = await startServer({});
    expect(await told(createOrder(server.url, {}, { leftMs }))).toEqual(late);
    expect(server.requests).toHaveLength(0);
  });

  it('is asked again before each attempt, and what was sent counts', async () => {
    const server = await startServer({ status: 503 });
    const leftMs = () => (server.requests.length === 0 ? 1000 : 0);
    expect(await told(whitelistIp(server.url, {}, { leftMs }))).toEqual({
      code: 'timeout',
      outcome: 'unknown',
      status: 503,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('is asked again when the connection is there: then neither head nor body leaves', async () => {
    const server = await startServer({});
    let left = 1000;
    const fetch = (request: Request) => {
      left = 0;
      return globalThis.fetch(request);
    };
    expect(await told(createOrder(server.url, { fetch }, { leftMs: () => left }))).toEqual({
      ...late,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(0);
  });

  it('ends the call', async () => {
    const server = await startServer(() => {});
    expect(await told(createOrder(server.url, { timeoutMs: 60_000 }, { leftMs: () => 100 }))).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
    });
  });
});
