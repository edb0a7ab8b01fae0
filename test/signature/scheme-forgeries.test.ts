import { describe, expect, it } from 'vitest';
import { forgers } from '../proof/forgers.ts';
import { forgeSome, noForgeries, total, unverified } from '../proof/forgery-rounds.ts';
import { times } from '../support/repeat.ts';

// `npm run prove` does it with more than a million.
const count = times(2_000, 20_000);
describe(`${count} forged signatures under every scheme`, () => {
  const result = noForgeries();
  forgeSome(result, { count, seed: 20_250_102, share: 0.8 });

  it('are made of bodies that verify', () => {
    expect(unverified()).toEqual([]);
  });

  it('come from every way of forging', () => {
    for (const { name } of forgers) expect(result.tried.get(name), name).toBeGreaterThan(times(20, 300));
  });

  it('are all refused with a SignatureError', () => {
    expect(total(result)).toBe(count);
    expect(result.failures).toEqual([]);
  });
});
