import { describe, expect, it } from 'vitest';
import { findGrowth, type Sample } from './samples.ts';

/** A sample each ten seconds for 30 minutes, with what grows a minute. */
function samplesOf({ heap = 0, descriptors = 0 }): Sample[] {
  return Array.from({ length: 180 }, (_, index) => {
    const minutes = index / 6;
    // A process that warms up for five minutes, and then varies.
    const warm = Math.min(1, minutes / 5) * 20;
    return {
      engine: 'sqlite',
      minutes,
      heap: 10 + warm + (index % 5) + heap * minutes,
      resident: 100 + warm,
      descriptors: 20 + (index % 7 === 0 ? 9 : 0) + Math.floor(descriptors * minutes),
      files: 4,
    };
  });
}

describe('the growth of a soak', () => {
  const growing = (samples: readonly Sample[]) =>
    findGrowth(samples).flatMap(({ of, isFlat }) => (isFlat ? [] : [of]));

  it('is none for a process that warms up, varies, and has more descriptors for a moment', () => {
    expect(growing(samplesOf({}))).toEqual([]);
  });

  it('is seen from a megabyte a minute, and from a descriptor in two', () => {
    expect(growing(samplesOf({ heap: 1 }))).toEqual(['heap']);
    expect(growing(samplesOf({ descriptors: 0.5 }))).toEqual(['descriptors']);
  });
});
