import { describe, expect, it } from 'vitest';
import { leaseMsOf, longestWaitMsOf } from '../../src/inbox/handling-options.ts';
import { readHandling } from './receiver.ts';

describe('the times of handling', () => {
  it.each([
    [60_000, 65_000],
    [5_000, 10_000],
    [400, 800],
  ])('of %i ms for a handler make a lease of %i ms', (timeLimitMs, leaseMs) => {
    expect(leaseMsOf({ timeLimitMs })).toBe(leaseMs);
  });

  it.each<[string, object, number]>([
    ['a lease', { timeLimitMs: 1_000_000, retry: { maxDelayMs: 1 } }, 1_065_000],
    ['a delay', { timeLimitMs: 1_000, retry: { maxDelayMs: 900_000 } }, 960_000],
    ['a missing handler', { timeLimitMs: 1_000, retry: { maxDelayMs: 1 } }, 660_000],
    ['what no number holds', { retry: { maxDelayMs: Number.MAX_SAFE_INTEGER } }, Number.MAX_SAFE_INTEGER],
  ])('let nothing wait longer than for %s', (_, options, waitMs) => {
    expect(longestWaitMsOf(readHandling(options))).toBe(waitMs);
  });
});
