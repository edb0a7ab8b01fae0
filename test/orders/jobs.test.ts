import { describe, expect, it } from 'vitest';
import type { OpenOrder } from '../../src/orders/open-orders.ts';
import { type JobRules, jobOf, pauseAfter } from '../../src/orders/order-loop.ts';

const now = 1_700_000_000_000;
const minute = 60_000;
const day = 86_400_000;

const rules: JobRules = {
  ...{ now, leaseMs: 120_000, maxAgeMs: 15 * minute, evidenceWithinMs: minute },
  reports: true,
};

type Listed = Omit<OpenOrder, 'idDigest'>;

/** An order that a caller asked for a while ago. */
const listed = (state: Listed['state'], ageMs: number, more: Partial<Listed> = {}): Listed => ({
  ...{ state, attempts: 1 },
  ...{ openedAt: now - ageMs, changedAt: now - ageMs, askedAt: now - ageMs },
  ...more,
});

describe('an order to be sent', () => {
  it.each(['prepared', 'not-sent'] as const)('that is %s is sent after the first pause', (state) => {
    expect(jobOf(listed(state, 999), rules)).toBeUndefined();
    expect(jobOf(listed(state, 1_000), rules)).toBe('send');
  });

  it('that waits for keys is sent after half a second, and every five seconds at last', () => {
    const waits = (ageMs: number, attempts: number) => jobOf(listed('waiting', ageMs, { attempts }), rules);
    expect([waits(499, 1), waits(500, 1)]).toEqual([undefined, 'send']);
    expect([waits(4_999, 9), waits(5_000, 9)]).toEqual([undefined, 'send']);
  });

  it('that waits for a rate limit is sent when the service takes it again, after a pause at least', () => {
    const limited = (ageMs: number, waitMs: number) =>
      jobOf(listed('waiting', ageMs, { notBefore: now - ageMs + waitMs }), rules);
    expect([limited(1_999, 2_000), limited(2_000, 2_000)]).toEqual([undefined, 'send']);
    expect([limited(999, 0), limited(1_000, 0)]).toEqual([undefined, 'send']);
    expect([limited(15 * minute, day), limited(15 * minute + 1, day)]).toEqual([undefined, 'hand-over']);
  });

  it.each(['prepared', 'not-sent', 'waiting'] as const)(
    'that is %s goes to a person after maxAgeMs since a caller asked for it, once',
    (state) => {
      const asked = { openedAt: now - day };
      expect(jobOf(listed(state, 15 * minute, asked), rules)).toBe('send');
      expect(jobOf(listed(state, 15 * minute + 1, asked), rules)).toBe('hand-over');
      expect(jobOf(listed(state, day, { handedOver: true }), rules)).toBeUndefined();
    },
  );

  it('goes to a person, or is sent, when the clock was set back', () => {
    expect(jobOf(listed('prepared', -day), rules)).toBe('hand-over');
    expect(jobOf(listed('prepared', minute, { changedAt: now + day }), rules)).toBe('send');
  });
});

describe('an unknown order', () => {
  it('goes to a person once no event came within evidenceWithinMs, and is never sent', () => {
    expect(jobOf(listed('unknown', minute), rules)).toBeUndefined();
    expect(jobOf(listed('unknown', minute + 1), rules)).toBe('hand-over');
    expect(jobOf(listed('unknown', minute + 1, { handedOver: true }), rules)).toBeUndefined();
  });

  it('counts from the lost reply, and not from when a caller asked for it', () => {
    const lost = { changedAt: now - minute };
    expect(jobOf(listed('unknown', day, lost), rules)).toBeUndefined();
    expect(jobOf(listed('unknown', day, { ...lost, leaseUntil: now - day }), rules)).toBeUndefined();
  });

  it('whose process died counts from the end of its lease', () => {
    const sending = (leaseUntil: number) => listed('sending', day, { leaseUntil });
    expect(jobOf(sending(now + 1), rules)).toBeUndefined();
    expect(jobOf(sending(now - minute), rules)).toBeUndefined();
    expect(jobOf(sending(now - minute - 1), rules)).toBe('hand-over');
    expect(jobOf(listed('sending', minute, { leaseUntil: undefined }), rules)).toBeUndefined();
    expect(jobOf(listed('sending', day, { leaseUntil: undefined }), rules)).toBe('hand-over');
  });
});

describe('a settled order', () => {
  it('is reported where there is an onSettled, until that has succeeded', () => {
    const unreported = listed('accepted', day, { unreported: true });
    expect(jobOf(unreported, rules)).toBe('report');
    expect(jobOf(unreported, { ...rules, reports: false })).toBeUndefined();
    expect(jobOf(listed('accepted', day), rules)).toBeUndefined();
  });
});

describe('the claim of another process', () => {
  const claimed = (claimedUntil: number) => listed('accepted', 0, { unreported: true, claimedUntil });

  it('holds until it ends', () => {
    expect(jobOf(claimed(now + 120_000), rules)).toBeUndefined();
    expect(jobOf(claimed(now + 1), rules)).toBeUndefined();
    expect(jobOf(claimed(now), rules)).toBe('report');
  });

  it('does not hold if it ends after any that could be made now: the clock was set back', () => {
    // Clocks may be a minute apart.
    expect(jobOf(claimed(now + 180_000), rules)).toBeUndefined();
    expect(jobOf(claimed(now + 180_001), rules)).toBe('report');
  });
});

describe('the pause before the next attempt', () => {
  it('doubles up to the longest, and an order that was not sent yet has the first one', () => {
    expect([0, 1, 2, 3, 6, 7, 8, 10_000].map((attempts) => pauseAfter(attempts))).toEqual([
      1_000, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });
});
