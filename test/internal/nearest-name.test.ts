import { describe, expect, it } from 'vitest';
import { nearestName, nearestSpelling } from '../../src/internal/nearest-name.ts';

const known = ['timeoutMs', 'timeLimitMs', 'maxAttempts', 'now', 'credentials', 'buyer_email'];

describe('the nearest known name', () => {
  it.each([
    ['timeoutMS', 'timeoutMs'],
    ['timeout', 'timeoutMs'],
    ['tiemoutMs', 'timeoutMs'],
    ['max_attempts', 'maxAttempts'],
    ['buyer_mail', 'buyer_email'],
    ['mail', 'buyer_email'],
    ['nwo', 'now'],
  ])('of %s is %s', (given, expected) => {
    expect(nearestName(given, known)).toBe(expected);
  });

  it.each(['', 'x', 'colour', 'x'.repeat(100_000)])('of %s is none', (given) => {
    expect(nearestName(given.slice(0, 100_000), known)).toBeUndefined();
  });
});

it('the nearest spelling is no longer or shorter name', () => {
  expect(nearestSpelling('buyerEmail', known)).toBe('buyer_email');
  for (const name of ['mail', 'credentials_of_acme', 'on', '', 'x'.repeat(65)])
    expect(nearestSpelling(name, known)).toBeUndefined();
});
