import { describe, expect, it } from 'vitest';
import { isPhoneError, normalizePhone } from '../../src/otp/index.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { rejected } from '../support/refusal.ts';
import { Clock, otpOn, phone, purpose } from './support.ts';

const otp = () => otpOn(memoryStore(), new Clock(), { allowedPrefixes: ['+234'] }).otp;

describe('isPhoneError', () => {
  it.each<[string, unknown]>([
    ['no number', 'call me'],
    ['a number', 2348012345678],
    ['one without its country', '0801 234 5678'],
    ['one of a prefix that is not allowed', '+33 6 12 34 56 78'],
  ])('is true for %s', async (_, to_phone) => {
    const request = { to_phone, purpose } as Parameters<ReturnType<typeof otp>['issue']>[0];
    expect(isPhoneError(await rejected(otp().issue(request)))).toBe(true);
  });

  it('is true for normalizePhone', () => {
    expect.assertions(1);
    try {
      normalizePhone('call me');
    } catch (error) {
      expect(isPhoneError(error)).toBe(true);
    }
  });

  it('is false for any other mistake, an id that has nothing to send, and no error of ours', async () => {
    const errors = [
      await rejected(otp().issue({ to_phone: phone, purpose: '' })),
      await rejected(otp().issue({ to_phone: phone, purpose, ip: 'here' })),
      await rejected(otp().resend('unknown')),
      new Error('to_phone'),
      undefined,
    ];
    expect(errors.filter(isPhoneError)).toEqual([]);
  });
});
