import { describe, expect, it } from 'vitest';
import { startServer } from '../support/local-server.ts';
import { requestError, sendMessage, told, whitelistIp } from './clients.ts';
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

  it('that is a date is waited for by the clock given', async () => {
    const server = await startServer(busy('Thu, 01 Jan 2026 00:00:00 GMT'), {});
    await sendMessage(server.url, { now: () => newYear - 150 });
    const [first, second] = server.requests;
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThan(140);
    expect(waited).toBeLessThan(5_000);
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

  // The seconds since 1970 are a time that somebody took for a wait.
  it.each(['1764356738', '9'.repeat(400), 'Thu, 01 Jan 2082 00:00:00 GMT'])(
    'of %s ends the call and is told as a day',
    async (wait) => {
      const server = await startServer(busy(wait));
      const error = await requestError(sendMessage(server.url, { now: () => newYear }));
      expect(error).toMatchObject({ status: 429, attempts: 1, retryAfterMs: 86_400_000 });
    },
  );

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

  it.each(['-5', 'tomorrow 5', ''])(
    'of "%s" says nothing, and the delay of the options is kept',
    async (wait) => {
      const server = await startServer(busy(wait));
      const failed = await told(sendMessage(server.url));
      expect(failed).toMatchObject({ status: 429, attempts: 3 });
      expect(failed).not.toHaveProperty('retryAfterMs');
    },
  );
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
});
