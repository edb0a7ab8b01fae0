import { describe, expect, it } from 'vitest';
import { deliveryIndex, indexForm } from '../../../src/inbox/store/delivery-index.ts';
import type { JsonValue } from '../../../src/internal/json.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { warningsDuring } from '../../webhooks/warnings.ts';
import { readHandling } from '../contract.ts';

const prefix = 'inbox/';
/** A prefix that nothing has been said about. */
const anew = (name: string) => `${name}-${crypto.randomUUID()}/`;
const digest = (digit: string) => digit.repeat(64);

/** An index at a time that stands, and how to put records below it. */
function open(now = 1_800_000_000_000, below = prefix) {
  const store = memoryStore({ now: () => now });
  const index = deliveryIndex('due', { ...readHandling({ now: () => now }), store, prefix: below });
  const write = (key: string, value: JsonValue) =>
    store.transact([key], (records) => records.set(key, value));
  const put = (at: number, digit: string, { receivedAt = now, writtenAt = now } = {}) =>
    write(index.keyOf(at, digest(digit)), indexForm.write({ receivedAt, writtenAt }, undefined));
  const due = async (limit: number) => {
    const { found, pauseMs } = await index.findDue(limit);
    return { found: found.map((entry) => entry.digest[0]).join(''), pauseMs };
  };
  return { now, index, write, put, due };
}

describe('the index of due deliveries', () => {
  it('finds those that are due, the oldest first, and no more than asked', async () => {
    const { now, put, due } = open();
    for (const [digit, at] of Object.entries({ c: now, a: now - 2, d: now + 1, b: now - 1 }))
      await put(at, digit);
    expect(await due(10)).toEqual({ found: 'abc', pauseMs: 0 });
    expect(await due(2)).toEqual({ found: 'ab', pauseMs: 0 });
  });

  it('says how long it is until the next one is due, or that there is none', async () => {
    const { now, put, due } = open();
    expect(await due(10)).toEqual({ found: '', pauseMs: Number.POSITIVE_INFINITY });
    await put(now + 7_000, 'b');
    await put(now + 5_000, 'a');
    expect(await due(10)).toEqual({ found: '', pauseMs: 5_000 });
  });

  // No wait is longer than ten minutes by default, and the clocks of two machines may differ by one.
  it.each([
    ['due as late as no wait is, and written ahead of now', 660_000, 60_001, 'b'],
    ['as late, and written by a clock that may be ahead of this one', 660_000, 60_000, ''],
    ['within a wait that can be right, though written ahead of now', 659_999, 3_600_000, ''],
  ])(
    'takes those for due that a clock wrote before it went back: one %s',
    async (_, dueIn, aheadMs, found) => {
      const { now, put, due } = open();
      await put(now + 5_000, 'a', { writtenAt: now });
      await put(now + dueIn, 'b', { writtenAt: now + aheadMs });
      expect(await due(10)).toEqual({ found, pauseMs: found === '' ? 5_000 : 0 });
    },
  );

  it('looks behind the records that are not its own, and says once where they are', async () => {
    const { now, index, write, put, due } = open(undefined, anew('foreign'));
    const mine = { receivedAt: now, writtenAt: now };
    await write(`${index.keyOf(now - 9, digest('1'))}`, 'foreign');
    await write(`${index.keyOf(now - 8, digest('2'))}`, { receivedAt: now });
    await write(`${index.keyOf(now - 7, digest('3'))}+`, mine);
    await write(index.keyOf(now - 6, 'short'), mine);
    for (const digit of 'abc') await put(now - 1, digit);
    const warnings = await warningsDuring(async () => {
      expect(await due(2)).toEqual({ found: 'ab', pauseMs: 0 });
      expect(await due(5)).toEqual({ found: 'abc', pauseMs: 0 });
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toMatch(/below foreign-.+\/due\/ that another program/);
  });

  it('leaves those of a newer version alone, says so once, and counts them', async () => {
    const { now, index, write, put, due } = open(undefined, anew('newer'));
    await write(index.keyOf(now - 1, digest('1')), { receivedAt: now, writtenAt: now, version: 2 });
    await put(now, 'a');
    const warnings = await warningsDuring(async () => {
      expect(await due(10)).toEqual({ found: 'a', pauseMs: 0 });
      expect(await due(10)).toEqual({ found: 'a', pauseMs: 0 });
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toMatch(/newer version below newer-.+\/due\//);
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
    const { index, put } = open(50);
    for (const [digit, at] of Object.entries({ a: 10, b: 20, c: 20, d: 30, e: 40 })) await put(at, digit);
    async function read(...asked: Parameters<typeof index.pages>): Promise<string[]> {
      const pages: string[] = [];
      for await (const page of index.pages(...asked))
        pages.push(page.map((entry) => entry.digest[0]).join(''));
      return pages;
    }
    expect(await read(2, 10)).toEqual(['ab', 'cd', 'e']);
    expect(await read(2, 3)).toEqual(['ab', 'c']);
    expect(await read(2, 10, 20)).toEqual(['bc', 'de']);
    expect(await read(2, 10, 41)).toEqual([]);
  });

  it('knows when the oldest one was received, and nothing if none says so', async () => {
    const { now, index, write, put } = open();
    expect(await index.oldestReceivedAt()).toBeUndefined();
    await write(index.keyOf(now, digest('1')), { writtenAt: now });
    expect(await index.oldestReceivedAt()).toBeUndefined();
    await put(now, 'a', { receivedAt: now - 2 });
    await put(now + 5, 'b', { receivedAt: now - 3 });
    await put(now + 9, 'c', { receivedAt: now - 1 });
    expect(await index.oldestReceivedAt()).toBe(now - 3);
  });
});

it('an index record keeps what a newer version has added to it', () => {
  const former = { receivedAt: 1, writtenAt: 2, region: 'west' };
  expect(indexForm.write({ receivedAt: 5, writtenAt: 7 }, former)).toEqual({
    receivedAt: 5,
    writtenAt: 7,
    region: 'west',
  });
});
