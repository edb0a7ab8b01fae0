import { describe, expect, it } from 'vitest';
import { startServer } from '../support/local-server.ts';
import { sendMessage, told, whitelistIp } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const newYear = Date.parse('2026-01-01T00:00:00Z');
const busy = (wait: string) => ({ status: 429, headers: { 'retry-after': wait } });

describe('Retry-After', () => {
  it('of 0 seconds is repeated at once', async () => {
    const server = await startServer(busy('0'), {});
    await sendMessage(server.url, { retry: { firstDelayMs: 60_000, maxDelayMs: 60_000 } });
    expect(server.requests).toHaveLength(2);
  });

  it('of a second is waited for', async () => {
    const server = await startServer(busy('1'), {});
    await sendMessage(server.url);
    const [first, second] = server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990);
  });

  it('that is a date is waited for by the clock given', async () => {
    const server = await startServer(busy('Thu, 01 Jan 2026 00:00:00 GMT'), {});
    await sendMessage(server.url, { now: () => newYear - 150 });
    const [first, second] = server.requests;
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThan(140);
    expect(waited).toBeLessThan(5_000);
  });

  it('that is a date in the past is repeated at once', async () => {
    const server = await startServer(busy('Thu, 01 Jan 2026 00:00:00 GMT'), {});
    await sendMessage(server.url, {
      now: () => newYear + 60_000,
      retry: { firstDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    expect(server.requests).toHaveLength(2);
  });

  it('in seconds beyond maxDelayMs ends the call and is told', async () => {
    const server = await startServer(busy('11'));
    expect(await told(sendMessage(server.url))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 429,
      retryAfterMs: 11_000,
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('that is a date beyond maxDelayMs ends the call and is told', async () => {
    const server = await startServer(busy('Thu, 01 Jan 2026 00:00:30 GMT'));
    expect(await told(sendMessage(server.url, { now: () => newYear }))).toEqual({
      code: 'http_error',
      outcome: 'refused',
      status: 429,
      retryAfterMs: 30_000,
      attempts: 1,
    });
  });

  it('beyond maxDelayMs ends a call that could be repeated without harm, too', async () => {
    const server = await startServer({ status: 503, headers: { 'retry-after': '3600' } });
    expect(await told(whitelistIp(server.url))).toEqual({
      code: 'http_error',
      outcome: 'unknown',
      status: 503,
      retryAfterMs: 3_600_000,
      attempts: 1,
    });
  });

  it.each(['10000000000', '99999999999', '9'.repeat(400)])(
    'of %s seconds ends the call and is told as the number that it is, or the highest',
    async (wait) => {
      const server = await startServer(busy(wait));
      const failed = await told(sendMessage(server.url));
      expect(failed).toMatchObject({ status: 429, attempts: 1 });
      expect(failed.retryAfterMs).toBe(Math.min(Number(wait) * 1000, Number.MAX_SAFE_INTEGER));
      expect(Number.isSafeInteger(failed.retryAfterMs)).toBe(true);
    },
  );

  it('is told when the attempts are used up', async () => {
    const server = await startServer(busy('0'));
    expect(await told(sendMessage(server.url))).toMatchObject({ retryAfterMs: 0, attempts: 3 });
  });

  it('is told with a status that is not repeated', async () => {
    const server = await startServer({ status: 503, headers: { 'retry-after': '7' } });
    expect(await told(sendMessage(server.url))).toMatchObject({ retryAfterMs: 7_000, attempts: 1 });
  });

  it('is told when the time runs out while waiting for it', async () => {
    const server = await startServer(busy('5'));
    expect(await told(sendMessage(server.url, { totalTimeoutMs: 1_000 }))).toEqual({
      code: 'timeout',
      outcome: 'refused',
      status: 429,
      retryAfterMs: 5_000,
      attempts: 1,
    });
  });

  it.each(['-5', '1.5', 'soon', 'tomorrow 5', '', '5 s', '1e3'])(
    'of "%s" says nothing, and the delay of the options is kept',
    async (wait) => {
      const server = await startServer(busy(wait));
      const failed = await told(sendMessage(server.url));
      expect(failed).toMatchObject({ status: 429, attempts: 3 });
      expect(failed).not.toHaveProperty('retryAfterMs');
    },
  );
});

it('a client does not wait on other headers than Retry-After', async () => {
  const inAnHour = String(Math.round(Date.now() / 1000) + 3_600);
  const headers = { 'ratelimit-reset': '3600', 'x-ratelimit-reset': inAnHour };
  const server = await startServer({ status: 429, headers }, {});
  await sendMessage(server.url);
  expect(server.requests).toHaveLength(2);
});

describe('the delay between attempts', () => {
  it('doubles from retry.firstDelayMs', async () => {
    const server = await startServer({ status: 503 });
    await told(
      whitelistIp(server.url, {
        maxAttempts: 3,
        retry: { firstDelayMs: 60 },
        random: (size) => new Uint8Array(size),
      }),
    );
    const at = server.requests.map((request) => request.at);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(55);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThan(115);
  });

  it('is never longer than maxDelayMs', async () => {
    const server = await startServer({ status: 503 }, {});
    await whitelistIp(server.url, { retry: { firstDelayMs: 600_000, maxDelayMs: 1 } });
    expect(server.requests).toHaveLength(2);
  });

  it('is halved at most by jitter', async () => {
    const server = await startServer({ status: 503 }, {});
    await whitelistIp(server.url, {
      retry: { firstDelayMs: 200 },
      random: (size) => new Uint8Array(size).fill(255),
    });
    const [first, second] = server.requests;
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThan(90);
  });
});
