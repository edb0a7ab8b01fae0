import { afterEach, describe, expect, it, vi } from 'vitest';
import { all, bodiesOf, day, keepIn, setUp } from './quarantine-for-tests.ts';

/** Where the quarantine of `setUp` keeps its records. */
const prefix = 'inbox/unverified/';
const newer = { version: 2, bytes: 1, share: '00' };

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the records of a quarantine', () => {
  it('begin with the prefix of its inbox, apart from those of others', async () => {
    const { keep, open, store } = setUp();
    await keep('body');
    expect(await open({ prefix: 'other/' }).count()).toBe(0);
    const records = await store.list({ prefix: '', limit: 10 });
    expect(records.filter(({ key }) => !key.startsWith(prefix))).toEqual([]);
  });

  it('are in the order of their times, also where a time has more digits than those before', async () => {
    const { keep, clock, quarantine } = setUp();
    clock.time = 999_999_999_999;
    await keep('first');
    clock.time += 1;
    await keep('second');
    expect(bodiesOf(await quarantine.list(all))).toEqual(['first', 'second']);
  });

  it('are listed no more at once than asked for, and from where the last list ended', async () => {
    const { keep, clock, quarantine } = setUp();
    for (const body of ['first', 'second', 'third']) {
      await keep(body);
      clock.time += 1;
    }
    const page = await quarantine.list({ limit: 2 });
    expect(bodiesOf(page)).toEqual(['first', 'second']);
    expect(bodiesOf(await quarantine.list({ after: page.at(-1)?.id, limit: 2 }))).toEqual(['third']);
  });

  it('are read 300 at once, whatever is asked for', async () => {
    const limits: number[] = [];
    const { quarantine } = setUp({}, ({ list }) => ({
      list(options) {
        limits.push(options.limit);
        return list(options);
      },
    }));
    await quarantine.list({ limit: 1_000 });
    expect(limits).toEqual([300]);
  });

  it('are counted also where they are more than one page', async () => {
    const { store, quarantine } = setUp();
    const keys = Array.from(
      { length: 1_001 },
      (_, index) => `${prefix}at/${String(index).padStart(16, '0')}/${'a'.repeat(64)}`,
    );
    for (const some of [keys.slice(0, 1_000), keys.slice(1_000)])
      await store.transact(some, (records) => {
        for (const key of some) records.set(key, { bytes: 1, share: '00', writtenAt: 1 });
      });
    expect(await quarantine.count()).toBe(1_001);
  });

  it('of a newer version are not listed, and are left as they are', async () => {
    const { keep, store, quarantine } = setUp();
    const keys = [1, 2].map((index) => `${prefix}at/${String(index).padStart(16, '0')}/${'a'.repeat(64)}`);
    await store.transact(keys, (records) => {
      for (const key of keys) records.set(key, newer);
    });
    await keep('body');
    expect(bodiesOf(await quarantine.list({ limit: 1 }))).toEqual(['body']);
    expect(await quarantine.count()).toBe(3);
    expect(await store.list({ prefix: `${prefix}at/0`, limit: 2 })).toMatchObject(
      keys.map((key) => ({ key, value: newer })),
    );
  });

  it('are not added to while a newer version counts them', async () => {
    const { keep, store } = setUp();
    await store.transact([`${prefix}room`], (records) => records.set(`${prefix}room`, { version: 2 }));
    await expect(keep('body')).rejects.toThrow(
      'The count of unverified deliveries is in the form of a newer',
    );
  });

  it('without a body are removed', async () => {
    const { keep, store, quarantine } = setUp();
    await keep('body');
    const [record] = await store.list({ prefix: `${prefix}body/`, limit: 1 });
    const { key = '', value } = record ?? {};
    await store.transact([key], (records) => records.set(key, { ...Object(value), body: 5 }));
    expect([await quarantine.list(all), await quarantine.count()]).toEqual([[], 0]);
  });
});

describe('the room of a quarantine', () => {
  it('holds bodies of 4 KiB for each that it may have', async () => {
    const { keep } = setUp({ maxQuarantined: 2 });
    expect([await keep('x'.repeat(4_097), '01'), await keep('x'.repeat(4_096), '01')]).toEqual([
      'full',
      'kept',
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
    for (const share of ['01', '02']) await keep(`old ${share}`, share);
    clock.time += day / 2;
    await keep('newer', '03');
    clock.time += day / 2;
    const other = open({}, store);
    meanwhile = async () => {
      expect(await keepIn(other, 'of the other', '04')).toBe('kept');
    };
    expect([await keep('next', '05'), await keep('over', '06')]).toEqual(['kept', 'full']);
  });
});
