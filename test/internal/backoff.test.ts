import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handlingRows } from '../../src/inbox/handling-options.ts';
import { backoffDelay, fractionOf } from '../../src/internal/backoff.ts';

const retry = handlingRows.retry.read('retry', undefined);

describe('the wait before another attempt', () => {
  it('is 1, 2, 4 ... seconds, up to 10 minutes', () => {
    const waits = [1, 2, 3, 4, 10, 11, 1000].map((attempt) => backoffDelay(attempt, retry, () => 0));
    expect(waits).toEqual([1000, 2000, 4000, 8000, 512_000, 600_000, 600_000]);
  });

  it('is never less than half of that, nor more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, chance) => {
          const whole = Math.min(600_000, 1000 * 2 ** (attempt - 1));
          const wait = backoffDelay(attempt, retry, () => chance);
          expect(wait).toBeGreaterThanOrEqual(whole / 2);
          expect(wait).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});

it('a fraction of random bytes is at least 0 and less than 1', () => {
  expect(fractionOf((size) => new Uint8Array(size))).toBe(0);
  expect(fractionOf((size) => new Uint8Array(size).fill(128))).toBeCloseTo(0.502);
  expect(fractionOf((size) => new Uint8Array(size).fill(255))).toBeLessThan(1);
});
