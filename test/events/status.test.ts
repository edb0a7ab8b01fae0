import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  isSettledStatus,
  isThirdPartyKycError,
  type SettledCryptoStatus,
  type ThirdPartyKycError,
} from '../../src/events/status.ts';

describe('a crypto status', () => {
  it.each(['PAID', 'Completed', 'COMPLETED'])('%s means settled', (status) => {
    expect(isSettledStatus(status)).toBe(true);
  });

  it.each([
    'PENDING',
    'STARTED',
    'completed',
    'Paid',
    'paid',
    ' PAID',
    '',
    'constructor',
    undefined,
    null,
    1,
    ['PAID'],
  ])('%j does not mean settled', (status) => {
    expect(isSettledStatus(status)).toBe(false);
  });

  it('is narrowed to its spellings', () => {
    const status: unknown = 'PAID';
    if (isSettledStatus(status)) expectTypeOf(status).toEqualTypeOf<'PAID' | 'Completed' | 'COMPLETED'>();
    expectTypeOf<SettledCryptoStatus>().toEqualTypeOf<'PAID' | 'Completed' | 'COMPLETED'>();
  });
});

describe('a KYC error type', () => {
  it.each(['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT'])("%s means a third party's payment", (type) => {
    expect(isThirdPartyKycError(type)).toBe(true);
  });

  it.each(['NO_KYC', 'third_party_error', 'THIRD_PARTY', '', 'toString', undefined, null, 0])(
    "%j does not mean a third party's payment",
    (type) => {
      expect(isThirdPartyKycError(type)).toBe(false);
    },
  );

  it('is narrowed to its spellings', () => {
    const type: unknown = 'THIRD_PARTY_ERROR';
    if (isThirdPartyKycError(type)) {
      expectTypeOf(type).toEqualTypeOf<'THIRD_PARTY_ERROR' | 'THIRD_PARTY_PAYMENT'>();
    }
    expectTypeOf<ThirdPartyKycError>().toEqualTypeOf<'THIRD_PARTY_ERROR' | 'THIRD_PARTY_PAYMENT'>();
  });
});
