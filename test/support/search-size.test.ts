import { describe, expect, it } from 'vitest';
import { sizeOf } from './search-size.ts';

describe('The size of a search', () => {
  it('ends after as many as asked for', () => {
    const size = sizeOf({ rounds: '3', seed: '7' }, { rounds: 100 });
    expect(size).toMatchObject({ rounds: 3, seed: 7, ms: undefined });
    expect([2, 3].map(size.isOver)).toEqual([false, true]);
  });

  it('ends when its time is over, however many that are', () => {
    expect(sizeOf({ minutes: '0' }, { rounds: 100 }).isOver(0)).toBe(true);
    const size = sizeOf({ minutes: '1', seconds: '30' }, { rounds: 1 });
    expect(size.ms).toBe(90_000);
    expect(size.isOver(1_000)).toBe(false);
  });

  it('draws a seed that can be typed in again', () => {
    const { seed } = sizeOf({}, { rounds: 1 });
    expect(sizeOf({ seed: String(seed) }, { rounds: 1 }).seed).toBe(seed);
  });

  it('refuses what is no number', () => {
    expect(() => sizeOf({ rounds: '-1' }, { rounds: 1 })).toThrow('--rounds must be a number.');
    expect(() => sizeOf({ minutes: 'two' }, { rounds: 1 })).toThrow('--minutes must be a number.');
  });
});
