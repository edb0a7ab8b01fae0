import { afterEach, describe, expect, it, vi } from 'vitest';
import type { InboxHost } from '../../../src/inbox/inbox.ts';
import type { UnverifiedText } from '../../../src/inbox/quarantine/quarantine.ts';
import { recordQuarantine, reviewNowAndThen } from '../../../src/inbox/quarantine/record-quarantine.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { all, bodiesOf, day, keepIn, quarantineOptions, setUp } from './quarantine-for-tests.ts';

afterEach(() => void vi.restoreAllMocks());

describe('the quarantine of a record store', () => {
  it('keeps equal bytes once, and each text for the partners whose keys were tried', async () => {
    const { keep, clock, quarantine } = setUp();
    expect(await keep('same')).toBe('kept');
    clock.time += 1;
    expect(await keep('same')).toBe('known');
    expect(await keep('same', 'other partner')).toBe('kept');
    expect(await quarantine.count()).toBe(2);
  });

  it('is bounded in all, and does not keep the newest when it is full', async () => {
    const { keep, quarantine } = setUp({ maxQuarantined: 4 });
    for (let count = 0; count < 4; count++) expect(await keep(`body ${count}`)).toBe('kept');
    expect(await keep('newest')).toBe('full');
    expect([await quarantine.count(), bodiesOf(await quarantine.list(all)).includes('newest')]).toEqual([
      4,
      false,
    ]);
  });

  it('has room again for what was removed, and holds nothing of it', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('marker');
    clock.time += 1;
    await keep('other');
    const first = (await quarantine.list(all)).find(({ body }) => body === 'marker');
    // The same once more, as of two processes.
    for (let count = 0; count < 2; count++) await quarantine.remove([first?.digest ?? '']);
    expect(bodiesOf(await quarantine.list(all))).toEqual(['other']);
    expect(JSON.stringify(await store.list({ prefix: '', limit: 1000 }))).not.toContain('marker');
    expect([await keep('next'), await keep('over')]).toEqual(['kept', 'full']);
  });

  it('forgets bodies after quarantineMs, and has room for others then', async () => {
    const { keep, clock, quarantine, store } = setUp({ maxQuarantined: 2 });
    await keep('old');
    clock.time += day / 2;
    await keep('newer');
    expect(await keep('over')).toBe('full');
    clock.time += day / 2;
    expect(bodiesOf(await quarantine.list(all))).toEqual(['newer']);
    clock.time += day / 2;
    expect([await quarantine.list(all), await store.list({ prefix: '', limit: 10 })]).toEqual([[], []]);
  });

  it('counts nothing once all that it kept has expired', async () => {
    const { keep, clock, quarantine } = setUp();
    await keep('expires');
    clock.time += day / 2;
    await keep('is removed');
    await quarantine.remove(
      (await quarantine.list(all)).filter(({ body }) => body === 'is removed').map(({ digest }) => digest),
    );
    expect(await quarantine.count()).toBe(1);
    clock.time += day / 2;
    expect(await quarantine.count()).toBe(0);
  });

  it('lists page by page, and removes more bodies than one transaction takes', async () => {
    const { keep, quarantine } = setUp({ maxQuarantined: 2_000 });
    for (let count = 0; count < 700; count++) await keep(`body ${count}`);
    const found: UnverifiedText[] = [];
    for (;;) {
      const page = await quarantine.list({ after: found.at(-1)?.digest, limit: 300 });
      if (page.length === 0) break;
      found.push(...page);
    }
    expect(new Set(bodiesOf(found)).size).toBe(700);
    await quarantine.remove(found.map(({ digest }) => digest));
    expect(await quarantine.count()).toBe(0);
  });
});

describe('the records of a quarantine', () => {
  it('of a newer version are not listed, and are left as they are', async () => {
    const { keep, store, quarantine } = setUp();
    await keep('body');
    const key = `inbox/unverified/body/${'a'.repeat(64)}`;
    const newer = { version: 2, text: 'body' };
    await store.transact([key], (records) => records.set(key, newer));
    for (const call of [quarantine.list(all), quarantine.remove(['a'.repeat(64)])])
      await expect(call).rejects.toThrow('An unverified delivery is in the form of a newer');
    expect(await store.list({ prefix: key, limit: 1 })).toMatchObject([{ value: newer }]);
  });
});

describe('the room of a quarantine', () => {
  it('holds bodies of 4 KiB for each that it may have', async () => {
    const { keep } = setUp({ maxQuarantined: 2 });
    expect([await keep('x'.repeat(8_193)), await keep('x'.repeat(8_192)), await keep('x')]).toEqual([
      'full',
      'kept',
      'full',
    ]);
  });

  it('is counted anew at most once a minute while it is full', async () => {
    let [time, lists] = [1_000, 0];
    vi.spyOn(performance, 'now').mockImplementation(() => time);
    const { keep } = setUp({ maxQuarantined: 1 }, ({ list }) => ({
      list(options) {
        lists++;
        return list(options);
      },
    }));
    await keep('first');
    for (time of [1_000, 1_001, 60_999]) expect(await keep(`at ${time}`)).toBe('full');
    expect(lists).toBe(1);
    time = 61_000;
    expect(await keep('later')).toBe('full');
    expect(lists).toBe(2);
  });

  it('keeps the count of the process that has counted it anew meanwhile', async () => {
    let meanwhile = async () => {};
    const { keep, store, open, clock } = setUp({ maxQuarantined: 3 }, ({ list }) => ({
      async list(options) {
        const page = await list(options);
        await meanwhile();
        return page;
      },
    }));
    for (const body of ['old', 'as old']) await keep(body);
    clock.time += day / 2;
    await keep('newer');
    clock.time += day / 2;
    const other = open({}, store);
    meanwhile = async () => {
      meanwhile = async () => {};
      expect(await keepIn(other, 'of the other')).toBe('kept');
    };
    expect([await keep('next'), await keep('over')]).toEqual(['kept', 'full']);
  });
});

const unverified = { digest: 'ab'.repeat(32), body: '{}', partners: 'P' };

/** Whether a call is refused at once, without waiting for the store. */
async function isRefused(call: Promise<unknown>): Promise<boolean> {
  const waits = new Promise((resolve) => setImmediate(resolve, 'waits'));
  return (await Promise.race([call.catch(() => 'refused'), waits])) === 'refused';
}

it('100 bodies of a quarantine may wait for the store, and reviews go on beside them', async () => {
  const never = () => new Promise<never>(() => {});
  const silent = { ...memoryStore(), transact: never, list: never };
  const quarantine = recordQuarantine(silent, { ...quarantineOptions, now: () => 0 });
  for (let count = 0; count < 100; count++) void quarantine.keep(unverified);
  expect(await isRefused(quarantine.keep(unverified))).toBe(true);
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
