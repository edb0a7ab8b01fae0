import { afterEach, describe, expect, it, vi } from 'vitest';
import { all, day, keepIn, setUp } from './quarantine-for-tests.ts';

/** Where the quarantine of `setUp` keeps its records. */
const prefix = 'inbox/unverified/';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the records of a quarantine', () => {
  it('of a newer version are not listed, and are left as they are', async () => {
    const { keep, store, quarantine } = setUp();
    await keep('body');
    const key = `${prefix}body/${'a'.repeat(64)}`;
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
