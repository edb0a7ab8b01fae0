import { afterEach, expect, it, vi } from 'vitest';
import type { InboxHost } from '../../../src/inbox/inbox.ts';
import { recordQuarantine, reviewNowAndThen } from '../../../src/inbox/quarantine/record-quarantine.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { quarantineOptions } from './quarantine-for-tests.ts';

const body = { digest: 'ab'.repeat(32), body: '{}', partners: 'P' };

/** Whether a call is refused at once, without waiting for the store. */
async function isRefused(call: Promise<unknown>): Promise<boolean> {
  const waits = new Promise((resolve) => setImmediate(resolve, 'waits'));
  return (await Promise.race([call.catch(() => 'refused'), waits])) === 'refused';
}

afterEach(() => void vi.restoreAllMocks());

it('100 bodies of a quarantine may wait for the store, and reviews go on beside them', async () => {
  const never = () => new Promise<never>(() => {});
  const silent = { ...memoryStore(), transact: never, list: never };
  const quarantine = recordQuarantine(silent, { ...quarantineOptions, now: () => 0 });
  for (let count = 0; count < 100; count++) void quarantine.keep(body);
  expect(await isRefused(quarantine.keep(body))).toBe(true);
  expect(await isRefused(quarantine.list({ limit: 1 }))).toBe(false);
});

it('a review of the quarantine comes at most every two seconds', async () => {
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  const review = vi.fn(async () => {});
  const host: InboxHost = { hasHandlers: true, review, handle: async () => 'handled', report: () => {} };
  const { review: _, ...hostWithout } = host;
  await reviewNowAndThen()(hostWithout);
  const reviewNow = reviewNowAndThen();
  for (time of [0, 1, 1_999]) await reviewNow(host);
  expect(review).toHaveBeenCalledTimes(1);
  time = 2_000;
  await reviewNow(host);
  expect(review).toHaveBeenCalledTimes(2);
});
