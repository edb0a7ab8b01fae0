import { describe, expect, it } from 'vitest';
import { a, b, deliveryOf, failure, recordBench } from './record-bench.ts';

describe('a dead letter', () => {
  it('that is replayed or dropped while they are listed is left out', async () => {
    const { records, open, interrupted, makeDead } = recordBench();
    await makeDead(a);
    await makeDead(b);
    const act = () => Promise.all([records.replay(a), records.discard(b)]);
    const listed = open(0, interrupted(1, act)).deadLetters({ limit: 5, withBody: true });
    expect(await listed).toEqual([]);
  });

  it('is replayed alone if it had to run alone before', async () => {
    const { records, lease, takeOver } = recordBench();
    await records.insert(deliveryOf(a));
    await lease();
    await records.moveToDeadLetters(await takeOver(), failure);
    expect(await records.replay(a)).toBe(true);
    expect((await records.lease(1)).leased).toEqual([]);
    expect(await records.leaseAlone()).toMatchObject({ leased: { attempt: 1, alone: true } });
  });

  it.each([
    ['replayed', 'replay', 1],
    ['dropped', 'discard', 0],
  ] as const)('that another person has %s is not replayed, and stays known', async (_, act, open) => {
    const bench = recordBench();
    await bench.makeDead(a);
    const first = async () => expect(await bench.records[act](a)).toBe(true);
    expect(await bench.open(0, bench.interrupted(2, first)).replay(a)).toBe(false);
    expect(await bench.deliveries.counts()).toEqual({ open, dead: 0 });
    expect(await bench.records.insert(deliveryOf(a))).toBe('duplicate');
  });

  it('is neither a delivery that is open or held, nor one that nobody knows', async () => {
    const { records, lease, status } = recordBench();
    await records.insert(deliveryOf(a));
    async function touchNothing(): Promise<void> {
      const before = await status();
      for (const digest of [a, b, '', 'no digest', `${a}a`]) {
        expect(await records.deadLetter(digest)).toBeUndefined();
        expect(await records.replay(digest)).toBe(false);
        expect(await records.discard(digest)).toBe(false);
      }
      expect(await status()).toEqual(before);
    }
    await touchNothing();
    const leased = await lease();
    await touchNothing();
    await records.remove(leased);
    await touchNothing();
  });
});

describe('the figures of the inbox', () => {
  it('count those that wait, those that are held, and the dead', async () => {
    const { records, lease, makeDead, deliveries } = recordBench();
    await makeDead(a);
    for (const digit of 'bcdef') await records.insert(deliveryOf(digit.repeat(64)));
    await lease();
    await lease();
    expect(await deliveries.counts()).toEqual({ open: 5, dead: 1 });
    expect(await deliveries.countOpen(10)).toBe(5);
    expect(await deliveries.countOpen(4)).toBe(4);
    expect(await deliveries.countOpen(2)).toBe(2);
  });

  it('know the oldest, whether it waits or is held', async () => {
    const { clock, records, lease, deliveries } = recordBench();
    expect(await deliveries.oldestAgeMs()).toBeNull();
    await records.insert(deliveryOf(a));
    await lease();
    clock.now += 1_000;
    await records.insert(deliveryOf(b));
    expect(await deliveries.oldestAgeMs()).toBe(1_000);
  });
});
