import { expect, it, vi } from 'vitest';
import { sleep } from '../../src/internal/backoff.ts';

it('a sleep does not end at once when it is longer than a timer can hold', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const controller = new AbortController();
  let isOver = false;
  const sleeping = sleep(2 ** 31, controller.signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  expect(isOver).toBe(false);
  controller.abort();
  await sleeping;
});
