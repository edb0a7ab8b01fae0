import { describe, expect, it } from 'vitest';
import { a, b, deliveryOf, failure, leaseMs, recordBench } from './record-bench.ts';

describe('the deliveries of a store', () => {
  it('tell the state of each, in the order of their digests', async () => {
    const { clock, records, open, deliveries, lease } = recordBench();
    const digests = ['a0', 'a1', 'a2', 'a3', 'b0'].map((start) => start.padEnd(64, '0'));
    const [gone = '', dead = '', held = '', waiting = '', other = ''] = digests;
    const receivedAt = new Date(clock.now);
    for (const digest of [gone, dead, held]) await records.insert(deliveryOf(digest));
    await records.remove(await lease());
    await records.moveToDeadLetters(await lease(), failure);
    await lease(open(7));
    for (const digest of [waiting, other]) await records.insert(deliveryOf(digest));
    const common = { name: 'event.buy.init', receivedAt, reason: '' };
    const dueAt = new Date(clock.now + leaseMs);
    const holder = { pid: 7, space: 'machine', hasEnded: false };
    expect(await deliveries.find('a', 10)).toEqual([
      { digest: gone, state: 'handled' },
      { ...common, digest: dead, state: 'dead', attempts: 1, reason: 'Error: no' },
      { ...common, digest: held, state: 'held', attempts: 1, dueAt, holder },
      { ...common, digest: waiting, state: 'waiting', attempts: 0, dueAt: receivedAt },
    ]);
    expect(await deliveries.find('a', 2)).toHaveLength(2);
    expect(await deliveries.find('a', 5_000)).toHaveLength(4);
    expect(await deliveries.find(waiting, 10)).toHaveLength(1);
  });

  it('of no beginning of a digest are none', async () => {
    const { records, deliveries } = recordBench();
    await records.insert(deliveryOf(a));
    for (const beginning of ['', 'A', 'a ', 'a-', ' a', `${a}a`])
      expect(await deliveries.find(beginning, 10)).toEqual([]);
  });
});

describe('the held deliveries of a store', () => {
  it('are the leased ones, by the end of their leases, and no more than asked', async () => {
    const { clock, records, deliveries, lease, takeOver } = recordBench();
    for (const digest of [b, a]) await records.insert(deliveryOf(digest));
    const waits = await lease();
    clock.now += 1_000;
    await lease();
    const held = async (limit: number) => (await deliveries.held(limit)).map(({ digest }) => digest);
    expect(await held(10)).toEqual([waits.delivery.digest, waits.delivery.digest === a ? b : a]);
    expect(await held(1)).toEqual([waits.delivery.digest]);
    // One that waits to be tried alone is not held.
    await records.postpone(await takeOver(), 600_000, failure);
    expect(await held(10)).toEqual([waits.delivery.digest === a ? b : a]);
  });
});

describe('the holder of a lease', () => {
  it('is the process that took it, and frees it with its end', async () => {
    const bench = recordBench();
    await bench.records.insert(deliveryOf(a));
    await bench.lease(bench.open(7));
    bench.ended.add(7);
    await bench.open(8).freeEnded(() => 0);
    const holder = { space: 'machine', pid: 7, hasEnded: true };
    expect(await bench.status()).toMatchObject({ state: 'held', holder });
    expect(await bench.records.isAloneDue()).toBe(true);
  });

  it('is unknown where the system names no processes: the lease ends by itself', async () => {
    const bench = recordBench();
    await bench.records.insert(deliveryOf(a));
    await bench.lease(bench.open(0));
    bench.ended.add(0);
    await bench.open(8).freeEnded(() => 0);
    expect(await bench.status()).not.toHaveProperty('holder');
    expect(await bench.records.isAloneDue()).toBe(false);
  });
});
