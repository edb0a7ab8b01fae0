import { describe, expect, it } from 'vitest';
import { nearestName, nearestSpelling } from '../../src/options/nearest-name.ts';

const known = ['timeoutMs', 'buyer_email', 'fiat_amount', 'now'];

describe('the nearest spelling', () => {
  it.each([
    ['buyer_mail', 'buyer_email'],
    ['buyerEmail', 'buyer_email'],
    ['BUYER_EMAIL', 'buyer_email'],
    ['fait_amount', 'fiat_amount'],
    ['nwo', 'now'],
  ])('of %s is %s', (name, meant) => {
    expect(nearestSpelling(name, known)).toBe(meant);
  });

  it.each(['mail', 'fiat_amount_usd', 'on', '', 'x'.repeat(65)])('of %j is none', (name) => {
    expect(nearestSpelling(name, known)).toBeUndefined();
  });
});

describe('the nearest name', () => {
  it.each([
    ['timeout', 'timeoutMs'],
    ['mail', 'buyer_email'],
    ['fiat_amount_usd', 'fiat_amount'],
    ['timeotMs', 'timeoutMs'],
  ])('of %s is %s', (name, meant) => {
    expect(nearestName(name, known)).toBe(meant);
  });

  it.each(['', 'ms', 'retry', `timeoutMs${'x'.repeat(65)}`])('of %j is none', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});
