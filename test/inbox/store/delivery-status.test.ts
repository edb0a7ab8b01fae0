import { describe, expect, it } from 'vitest';
import { a, deliveryOf, failure, leaseMs, recordBench } from './record-bench.ts';

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
    expect(await deliveries.find('a', 10)).toEqual([
      { digest: gone, state: 'handled' },
      { ...common, digest: dead, state: 'dead', attempts: 1, reason: 'Error: no' },
      { ...common, digest: held, state: 'held', attempts: 1, dueAt },
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
