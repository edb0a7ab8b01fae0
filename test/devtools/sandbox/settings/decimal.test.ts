import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareDecimals,
  type Decimal,
  divideDecimals,
  exactNumber,
  formatDecimal,
  parseDecimal,
} from '../../../../src/devtools/sandbox/settings/decimal.ts';

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

const decimals = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat(10))
  .map(([units, scale]) => ({ units, scale }));

describe('a decimal', () => {
  it.each(['', '-1', '+1', '1.', '.5', '1e3', '0x10', ' 1', '1,5', '9'.repeat(61)])('is not %j', (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  it('is written as it was read', () => {
    for (const text of ['0', '0.00', '15000.10', '0.001', '9007199254740993']) {
      expect(formatDecimal(decimal(text))).toBe(text);
    }
    fc.assert(
      fc.property(decimals, (any) => {
        expect(parseDecimal(formatDecimal(any))).toEqual(any);
      }),
    );
  });

  it('is subtracted and divided without rounding up', () => {
    expect(formatDecimal(divideDecimals(decimal('2'), decimal('3'), 6))).toBe('0.666666');
    expect(formatDecimal(divideDecimals(decimal('15000.50'), decimal('1500'), 6))).toBe('10.000333');
    expect(formatDecimal(divideDecimals(decimal('1'), decimal('0.05'), 2))).toBe('20.00');
  });

  it('is a number only where the number is the same decimal', () => {
    expect(exactNumber(decimal('15000.10'))).toBe(15000.1);
    expect(exactNumber(decimal('0.0000001'))).toBe(1e-7);
    expect(exactNumber(decimal(`1${'0'.repeat(25)}`))).toBe(1e25);
    expect(exactNumber(decimal('9007199254740993'))).toBeUndefined();
    expect(exactNumber(decimal('0.1000000000000000055511151231257827'))).toBeUndefined();
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (number) => {
        const text = String(number);
        fc.pre(!text.includes('e'));
        expect(exactNumber(decimal(text))).toBe(number);
      }),
    );
  });

  it('compares by value', () => {
    expect(compareDecimals(decimal('1.0'), decimal('1'))).toBe(0);
    expect(compareDecimals(decimal('1.01'), decimal('1.1'))).toBeLessThan(0);
    expect(compareDecimals(decimal('2'), decimal('1.99'))).toBeGreaterThan(0);
  });
});
