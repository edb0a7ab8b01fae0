import { expect, it } from 'vitest';
import { randomBytes, randomFraction } from '../../src/internal/random.ts';

it('makes a number from 0 up to 1 of two random bytes', () => {
  const fractionOf = (...bytes: number[]) => randomFraction(() => Uint8Array.from(bytes));
  expect([fractionOf(0, 0), fractionOf(128, 0), fractionOf(0, 64)]).toEqual([0, 0.5, 64 / 65_536]);
  expect(fractionOf(255, 255)).toBeLessThan(1);
});

it('gives as many bytes as it is asked for', () => {
  expect([0, 1, 32].map((bytes) => randomBytes(bytes).length)).toEqual([0, 1, 32]);
});
