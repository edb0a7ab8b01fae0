import { describe, expect, it } from 'vitest';
import { a, deliveryOf, failure, leaseMs, recordBench } from './record-bench.ts';

describe('what an ended process had leased', () => {
  it('is freed by the next one that starts, the deliveries of others are not', async () => {
    const { clock, ended, records, open, lease } = recordBench();
    for (const digit of 'abc') await records.insert(deliveryOf(digit.repeat(64)));
    for (const pid of [1, 2, 0]) await lease(open(pid));
    ended.add(1);
    const next = open(3);
    await next.freeEnded(() => expect.unreachable());
    expect(await next.leaseAlone()).toMatchObject({ leased: { delivery: { digest: a }, attempt: 1 } });
    expect(await next.leaseAlone()).toEqual({ leased: undefined, dead: [] });
    clock.now += leaseMs;
    expect(await next.isAloneDue()).toBe(true);
  });

  it('alone is due after a pause, and no later than its lease would have ended', async () => {
    for (const [asked, pauseMs] of [
      [2_000, 2_000],
      [600_000, leaseMs],
    ] as const) {
      const { clock, ended, records, open, lease, takeOver } = recordBench();
      await records.insert(deliveryOf(a));
      await lease(open(1));
      await takeOver(open(1));
      ended.add(1);
      await records.freeEnded((attempt) => (attempt === 1 ? asked : 0));
      clock.now += pauseMs - 1;
      expect(await records.isAloneDue()).toBe(false);
      clock.now += 1;
      expect(await records.isAloneDue()).toBe(true);
    }
  });

  it('is left as it is where it ended, or another process has it, at that moment', async () => {
    const ends = ['handled', 'failed', 'leased', 'leased anew', 'freed'] as const;
    for (const end of ends) {
      const { clock, ended, records, open, interrupted, lease, status } = recordBench();
      await records.insert(deliveryOf(a));
      const leased = await lease(open(1));
      ended.add(1);
      let before: unknown;
      async function act(): Promise<void> {
        if (end === 'handled') await records.remove(leased);
        if (end === 'failed') await records.postpone(leased, 5_000, failure);
        if (end === 'freed') {
          clock.now += 1;
          await open(4).freeEnded(() => 0);
        }
        if (end === 'leased anew') {
          // Its lease ends in the same millisecond.
          await records.putBack(leased, 0);
          await lease(open(2));
        }
        if (end === 'leased') {
          clock.now += leaseMs;
          await open(2).leaseAlone();
        }
        before = await status();
      }
      await open(3, interrupted(2, act)).freeEnded(() => 0);
      expect(before).toBeDefined();
      expect(await status()).toEqual(before);
    }
  });
});
