import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handlingRows } from '../../src/inbox/handling-options.ts';
import { backoffDelay } from '../../src/internal/backoff.ts';

const retry = handlingRows.retry(undefined, 'retry');

describe('the wait before another attempt', () => {
  it('is 1, 2, 4 ... seconds, up to 10 minutes', () => {
    const waits = [1, 2, 3, 4, 10, 11, 1000].map((attempt) =>
      backoffDelay(attempt, retry, (size) => new Uint8Array(size)),
    );
    expect(waits).toEqual([1000, 2000, 4000, 8000, 512_000, 600_000, 600_000]);
  });

  it('is never less than half of that, nor more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.uint8Array({ minLength: 2, maxLength: 2 }),
        (attempt, bytes) => {
          const whole = Math.min(600_000, 1000 * 2 ** (attempt - 1));
          const wait = backoffDelay(attempt, retry, () => bytes);
          expect(wait).toBeGreaterThanOrEqual(whole / 2);
          expect(wait).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});
