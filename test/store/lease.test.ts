import { describe, expect, it } from 'vitest';
import { clockSkewMs, isAhead, isHeld, takeLease } from '../../src/store/lease.ts';

const self = { space: 'machine', pid: 7 };
const dead = new Set<number>();
const processes = { self: () => self, hasEnded: ({ pid }: { pid: number }) => dead.has(pid) };

describe('a lease', () => {
  it('holds from when it is taken until its time is over', () => {
    const lease = takeLease({ now: 1_000.7, leaseMs: 500, processes });
    expect(lease).toMatchObject({ takenAt: 1_000, until: 1_500, holder: self });
    expect([1_000, 1_499, 1_500].map((now) => isHeld(lease, { now, processes }))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('does not hold if the clock was set back by more than clocks differ', () => {
    const lease = takeLease({ now: 10 * clockSkewMs, leaseMs: 500, processes });
    const held = [9 * clockSkewMs, 9 * clockSkewMs - 1].map((now) => isHeld(lease, { now, processes }));
    expect(held).toEqual([true, false]);
    expect([isAhead(clockSkewMs, 0), isAhead(clockSkewMs + 1, 0)]).toEqual([false, true]);
  });

  it('ends with its process, where that can be told', () => {
    const lease = takeLease({ now: 0, leaseMs: 500, processes });
    dead.add(7);
    expect(isHeld(lease, { now: 1, processes })).toBe(false);
    const { holder: _, ...nameless } = lease;
    expect(isHeld(nameless, { now: 1, processes })).toBe(true);
  });

  it('names no process where none stays, and then holds until its time is over', () => {
    const lease = takeLease({ now: 0, leaseMs: 500, processes: { ...processes, self: () => undefined } });
    expect(lease).not.toHaveProperty('holder');
    expect(isHeld(lease, { now: 499, processes })).toBe(true);
  });

  it('of this process holds while it runs, by its own view too', () => {
    const lease = takeLease({ now: 0, leaseMs: 500 });
    expect(lease.holder?.pid).toBe(process.pid);
    expect(isHeld(lease, { now: 1 })).toBe(true);
    expect(lease.token).not.toBe(takeLease({ now: 0, leaseMs: 500 }).token);
  });
});
