import { afterEach, describe, expect, it, vi } from 'vitest';
import { all, bodiesOf, day, keepIn, setUp } from './quarantine-for-tests.ts';

/** Where the quarantine of `setUp` keeps its records. */
const prefix = 'inbox/unverified/';

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

  it('are listed no more at once than asked for, and from where the last list ended', async () => {
    const { keep, quarantine } = setUp();
    for (const body of ['first', 'second', 'third']) await keep(body);
    const page = await quarantine.list({ limit: 2 });
    const rest = await quarantine.list({ after: page.at(-1)?.digest, limit: 2 });
    expect([page.length, rest.length]).toEqual([2, 1]);
    expect(bodiesOf([...page, ...rest]).sort()).toEqual(['first', 'second', 'third']);
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

  it('are not added to while a newer version counts them', async () => {
    const { keep, store } = setUp();
    await store.transact([`${prefix}room`], (records) => records.set(`${prefix}room`, { version: 2 }));
    await expect(keep('body')).rejects.toThrow(
      'The count of unverified deliveries is in the form of a newer',
    );
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
