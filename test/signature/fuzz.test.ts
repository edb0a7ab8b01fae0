import { describe, expect, it } from 'vitest';
import { fuzz } from '../proof/fuzz-rounds.ts';
import { times } from '../support/repeat.ts';

// `npm run prove` does it with a million.
const count = times(1_500, 10_000);
describe(`${count} generated and mutated bodies`, () => {
  const { passed, misread, failures, codes } = fuzz(count, 20_250_102);

  it('are read and refused as JSON.parse and a second reader say', () => {
    expect(failures).toEqual([]);
    expect(passed + misread).toBe(count);
    expect(misread).toBeLessThan(10);
  });

  it('come to every end that a wrongly signed body can have, a good part of them to the digest', () => {
    expect(Object.keys(codes).sort()).toEqual([
      'body_ambiguous',
      'body_not_json',
      'body_not_object',
      'body_not_utf8',
      'signature_duplicated',
      'signature_malformed',
      'signature_mismatch',
      'signature_missing',
    ]);
    expect(codes.signature_mismatch).toBeGreaterThan(0.2 * count);
  });
});
