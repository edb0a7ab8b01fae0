import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNonJson, isJsonObject } from '../../src/internal/json.ts';

describe('JSON data', () => {
  it('is found clean, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(findNonJson(value)).toBeUndefined();
      }),
      { seed: 15, numRuns: 300 },
    );
  });

  it('may come from another realm, as under jest', async () => {
    const { runInNewContext } = await import('node:vm');
    expect(findNonJson(runInNewContext('({ a: [1, { b: null }] })'))).toBeUndefined();
  });
});

describe('what is not JSON data', () => {
  const circle: unknown[] = [];
  circle.push(circle);

  it('is found by its path', () => {
    expect(findNonJson({ a: [0, { b: Number.NaN }] })).toMatchObject({ path: ['a', 1, 'b'] });
  });

  it.each([
    ['undefined', undefined],
    ['a circle', circle],
    ['an array with undefined', [undefined]],
    ['a class instance', new (class Amount {})()],
    ['a promise', Promise.resolve(1)],
  ])('is found: %s', (_, value) => {
    expect(findNonJson(value)).toBeDefined();
  });
});

it('a JSON object is neither a list nor null', () => {
  const values = [{}, { a: 1 }, Object.create(null), [], null, undefined, '{}', 1];
  expect(values.map(isJsonObject)).toEqual([true, true, true, false, false, false, false, false]);
});
