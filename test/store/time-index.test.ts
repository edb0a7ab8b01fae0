import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/internal/json.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { timeIndex } from '../../src/store/time-index.ts';
import { warningsDuring } from '../webhooks/warnings.ts';

const longestWaitMs = 600_000;
/** A prefix that nothing has been said about. */
const anew = (name: string) => `${name}-${crypto.randomUUID()}/`;
const digest = (digit: string) => digit.repeat(64);

/** An index at a time that stands, and how to put records below it. */
function open(now = 1_800_000_000_000, prefix = 'due/') {
  const store = memoryStore({ now: () => now });
  const index = timeIndex(store, prefix);
  const write = (key: string, value: JsonValue) =>
    store.transact([key], (records) => records.set(key, value));
  const put = (at: number, digit: string, { writtenAt = now } = {}) =>
    write(index.keyOf(at, digest(digit)), index.write(now, { at: writtenAt }));
  const findDue = async (limit: number) => {
    const { due, pauseMs } = await index.findDue({ limit, now, longestWaitMs });
    return { due: due.map(({ digest }) => digest[0]).join(''), pauseMs };
  };
  return { now, index, write, put, findDue };
}

describe('an index by time', () => {
  it('finds those that are due, the oldest first, and no more than asked', async () => {
    const { now, put, findDue } = open();
    for (const [digit, at] of Object.entries({ c: now, a: now - 2, d: now + 1, b: now - 1 }))
      await put(at, digit);
    expect(await findDue(10)).toEqual({ due: 'abc', pauseMs: 0 });
    expect(await findDue(2)).toEqual({ due: 'ab', pauseMs: 0 });
  });

  it('says how long it is until the next one is due, or that there is none', async () => {
    const { now, put, findDue } = open();
    expect(await findDue(10)).toEqual({ due: '', pauseMs: Number.POSITIVE_INFINITY });
    await put(now + 7_000, 'b');
    await put(now + 5_000, 'a');
    expect(await findDue(10)).toEqual({ due: '', pauseMs: 5_000 });
  });

  // The clocks of two machines may differ by a minute.
  it.each([
    ['due as late as no wait is, and written ahead of now', 600_000, 60_001, 'b'],
    ['as late, and written by a clock that may be ahead of this one', 600_000, 60_000, ''],
    ['within a wait that can be right, though written ahead of now', 599_999, 3_600_000, ''],
  ])('takes those for due that a clock wrote before it went back: one %s', async (_, dueIn, aheadMs, due) => {
    const { now, put, findDue } = open();
    await put(now + 5_000, 'a');
    await put(now + dueIn, 'b', { writtenAt: now + aheadMs });
    expect(await findDue(10)).toEqual({ due, pauseMs: due === '' ? 5_000 : 0 });
  });

  it('looks behind the records that are not its own, and says once where they are', async () => {
    const prefix = anew('foreign');
    const { now, index, write, put, findDue } = open(undefined, prefix);
    const mine = { receivedAt: now, writtenAt: now };
    await write(`${index.keyOf(now - 9, digest('1'))}`, 'foreign');
    await write(`${index.keyOf(now - 8, digest('2'))}`, { receivedAt: now });
    await write(`${index.keyOf(now - 7, digest('3'))}+`, mine);
    await write(index.keyOf(now - 6, 'short'), mine);
    await write(`${prefix}-${index.keyOf(now - 5, digest('4')).slice(prefix.length)}`, mine);
    await write(`${prefix}${now}/${digest('5')}`, mine);
    for (const digit of 'abc') await put(now - 1, digit);
    const warnings = await warningsDuring(async () => {
      expect(await findDue(2)).toEqual({ due: 'ab', pauseMs: 0 });
      expect(await findDue(5)).toEqual({ due: 'abc', pauseMs: 0 });
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toMatch(/below foreign-.+\/ that another program/);
    expect(await index.count()).toBe(5);
  });

  it('tells of each entry once that stands between records which are not its own', async () => {
    const { now, index, write, put, findDue } = open(undefined, anew('between'));
    await put(now - 7, 'a');
    await put(now - 3, 'b');
    for (const at of [9, 8, 6, 5, 4]) await write(index.keyOf(now - at, digest('f')), 'foreign');
    expect(await findDue(4)).toEqual({ due: 'ab', pauseMs: 0 });
  });

  it('leaves those of a newer version alone, says so once, and counts them', async () => {
    const { now, index, write, put, findDue } = open(undefined, anew('newer'));
    await write(index.keyOf(now - 1, digest('1')), { receivedAt: now, writtenAt: now, version: 2 });
    await put(now, 'a');
    const warnings = await warningsDuring(async () => {
      expect(await findDue(10)).toEqual({ due: 'a', pauseMs: 0 });
      expect(await findDue(10)).toEqual({ due: 'a', pauseMs: 0 });
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toMatch(/newer version below newer-.+\//);
    expect(await index.count()).toBe(2);
  });

  it('counts no further than asked, over several pages', async () => {
    const { now, index, write } = open();
    const mine = { receivedAt: now, writtenAt: now };
    const digests = Array.from({ length: 1_600 }, (_, number) => String(number).padStart(64, '0'));
    for (const one of digests) await write(index.keyOf(now, one), mine);
    expect(await index.count(1_200)).toBe(1_200);
    expect(await index.count(7)).toBe(7);
    expect(await index.count()).toBe(1_600);
  });

  it('reads by pages, from a time on, and no more than asked', async () => {
    const { index, write } = open();
    const digests = Array.from({ length: 250 }, (_, number) => String(number).padStart(64, '0'));
    for (const [at, digest] of digests.entries())
      await write(index.keyOf(at, digest), { receivedAt: at, writtenAt: at });
    async function read(...asked: Parameters<typeof index.pages>): Promise<number[]> {
      const sizes: number[] = [];
      for await (const page of index.pages(...asked)) sizes.push(page.length);
      return sizes;
    }
    expect(await read(1_000)).toEqual([100, 100, 50]);
    expect(await read(130)).toEqual([100, 30]);
    expect(await read(1_000, 200)).toEqual([50]);
    expect(await read(1_000, 250)).toEqual([]);
  });

  it('has the keys below its prefix, which sort as their times do', () => {
    const { index } = open();
    const times = [-7, 0.5, 9, 10, 1_800_000_000_000];
    const keys = times.map((at) => index.keyOf(at, digest('a')));
    expect(keys.toSorted()).toEqual(keys);
    expect(keys[0]).toBe(index.keyOf(0, digest('a')));
    expect(keys.every(index.holds)).toBe(true);
    expect(index.holds(`dead/${keys[0]}`)).toBe(false);
  });

  it('writes whole times, and keeps what a newer version wrote', () => {
    const { index } = open();
    expect(index.write(7, { at: 9.5, former: { receivedAt: 1, writtenAt: 2, by: 'b' } })).toEqual({
      receivedAt: 7,
      writtenAt: 9,
      by: 'b',
    });
  });

  it('tells of an entry by its key, time, digest and value', async () => {
    const { now, index, put } = open();
    await put(now, 'a', { writtenAt: now - 1 });
    const value = { receivedAt: now, writtenAt: now - 1 };
    expect(await index.list(2)).toEqual([
      { key: index.keyOf(now, digest('a')), at: now, digest: digest('a'), value },
    ]);
  });
});
