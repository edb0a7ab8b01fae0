import { expect, expectTypeOf, it } from 'vitest';
import { isSettledStatus, isThirdPartyKycError } from '../../src/events/status.ts';

it('a crypto status means settled in its reported spellings alone', () => {
  const statuses = [
    'PAID',
    'Completed',
    'COMPLETED',
    'PENDING',
    'paid',
    ' PAID',
    '',
    undefined,
    null,
    ['PAID'],
  ];
  expect(statuses.filter(isSettledStatus)).toEqual(['PAID', 'Completed', 'COMPLETED']);
  const status: unknown = 'PAID';
  if (isSettledStatus(status)) expectTypeOf(status).toEqualTypeOf<'PAID' | 'Completed' | 'COMPLETED'>();
});

it("a KYC error means a third party's payment in both spellings of the contract alone", () => {
  const types = ['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT', 'NO_KYC', 'third_party_error', '', undefined, 0];
  expect(types.filter(isThirdPartyKycError)).toEqual(['THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT']);
  const type: unknown = 'THIRD_PARTY_ERROR';
  if (isThirdPartyKycError(type))
    expectTypeOf(type).toEqualTypeOf<'THIRD_PARTY_ERROR' | 'THIRD_PARTY_PAYMENT'>();
});
