import { describe, expect, expectTypeOf, it } from 'vitest';
import { isPhoneError, isValidationError } from '../../src/errors/errors.ts';
import type { CheckedOtp } from '../../src/otp/check-code.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { rejected, thrownBy } from '../support/refusal.ts';
import { Clock, FakeMessenger, otpOn, phone, purpose, secret } from './support.ts';

const sound: OtpOptions = {
  messenger: new FakeMessenger(),
  store: memoryStore(),
  secrets: [secret],
  allowedPrefixes: 'any',
};

describe('createOtp', () => {
  it('takes secrets as bytes, and as text of 32 bytes in UTF-8', () => {
    createOtp({ ...sound, secrets: [new Uint8Array(32), 'é'.repeat(16)] });
  });

  it.each<[string, unknown, RegExp]>([
    ['an option that there is not', { maxTries: 3 }, /"maxTries" is not an option of createOtp/],
    [
      'a misspelt part of a limit',
      { limits: { messagesPerPhone: { max: 1, window: 1 } } },
      /of limits\.messagesPerPhone\. Did you mean "windowMs"/,
    ],
    ['no messenger', { messenger: undefined }, /^messenger/],
    ['no store', { store: undefined }, /^store/],
    ['no secrets', { secrets: [] }, /^secrets/],
    ['a short secret', { secrets: [secret, 'x'.repeat(31)] }, /at least 32 bytes/],
    ['a secret twice', { secrets: [secret, secret] }, /twice/],
    ['an empty list of prefixes', { allowedPrefixes: [] }, /^allowedPrefixes/],
    ['codes that are too short', { codeLength: 5 }, /^codeLength.*6 to 10/],
    ['a lifetime of more than ten minutes', { lifetimeMs: 600_001 }, /^lifetimeMs/],
    ['a negative cool-down', { cooldownMs: -1 }, /cooldownMs/],
    ['a ratio above one', { limits: { unconfirmedPerIp: { floor: 1, ratio: 30, windowMs: 1 } } }, /ratio/],
  ])('refuses %s', (_, change, message) => {
    // What a JavaScript caller may pass.
    const error = thrownBy(() => createOtp({ ...sound, ...(change as object) }));
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) });
    expect(String(error)).not.toContain(secret);
  });

  it('takes a clock with fractions of milliseconds', async () => {
    const clock = new Clock();
    clock.at += 0.5;
    const { otp, messenger } = otpOn(memoryStore({ now: clock.now }), clock);
    const { id, expiresAt } = await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    expect(Number.isInteger(expiresAt)).toBe(true);
    expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
  });
});

describe('each call', () => {
  const makeOtp = () => otpOn(memoryStore(), new Clock(), { allowedPrefixes: ['+234', '+1415'] });

  it.each<[string, (call: Otp) => Promise<unknown>, string]>([
    ['a malformed phone number', (call) => call.issue({ to_phone: '0801 234 5678', purpose }), 'to_phone'],
    ['no purpose', (call) => call.issue({ to_phone: phone } as Parameters<Otp['issue']>[0]), 'purpose'],
    ['a very long purpose', (call) => call.issue({ to_phone: phone, purpose: 'x'.repeat(65) }), 'purpose'],
    ['half a character', (call) => call.issue({ to_phone: phone, purpose: '\ud800' }), 'purpose'],
    ['an empty subject', (call) => call.issue({ to_phone: phone, purpose, subject: '' }), 'subject'],
    ['an address with a port', (call) => call.issue({ to_phone: phone, purpose, ip: '1.2.3.4:80' }), 'ip'],
    ['an id that is no text', (call) => call.resend(5 as unknown as string), 'id'],
    ['a code that is a number', (call) => call.check('x', 493021 as unknown as string, { purpose }), 'code'],
  ])('refuses %s by its name, and does nothing', async (_, call, member) => {
    const { otp, messenger } = makeOtp();
    const error = await rejected(call(otp));
    expect(isValidationError(error) && error.issues).toMatchObject([{ path: [member] }]);
    expect(isPhoneError(error)).toBe(member === 'to_phone');
    expect(messenger.messages).toEqual([]);
  });

  it('sends only to prefixes that are allowed', async () => {
    const { otp, messenger } = makeOtp();
    for (const refused of ['+442079460018', '+12025550123']) {
      const error = await rejected(otp.issue({ to_phone: refused, purpose }));
      expect(error).toMatchObject({ code: 'not_allowed' });
      expect(isPhoneError(error)).toBe(true);
    }
    expect(isPhoneError(await rejected(otp.resend('unknown')))).toBe(false);
    await otp.issue({ to_phone: '+1 415 555 2671', purpose });
    expect(messenger.messages).toHaveLength(1);
  });
});

describe('the message', () => {
  it('has the code, the minutes and the purpose', async () => {
    const { otp, messenger } = otpOn(memoryStore(), new Clock(), {
      lifetimeMs: 150_000,
      codeLength: 8,
      message: ({ code, minutes, purpose: why }) => `${why}: ${code} (${minutes} min)`,
    });
    await otp.issue({ to_phone: phone, purpose });
    expect(messenger.messages[0]?.message).toMatch(/^sign-in: \d{8} \(2 min\)$/);
  });

  it.each([
    ['without the code', () => 'Your code'],
    ['that is no text', () => 5 as unknown as string],
    [
      'that cannot be made',
      () => {
        throw new Error('no');
      },
    ],
  ])('is refused before anything is stored or sent: %s', async (_, message) => {
    const store = memoryStore();
    const { otp, messenger } = otpOn(store, new Clock(), { message });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
      code: 'invalid_option',
    });
    expect(messenger.messages).toEqual([]);
    expect(await store.list({ prefix: '', limit: 1 })).toEqual([]);
  });
});

describe('types', () => {
  it('of a check give the phone number only where it is right', () => {
    expectTypeOf<Extract<CheckedOtp, { ok: true }>>().toEqualTypeOf<{
      readonly ok: true;
      readonly to_phone: string;
    }>();
    expectTypeOf<Extract<CheckedOtp, { ok: false }>['reason']>().toEqualTypeOf<'wrong' | 'not_valid'>();
  });
});

describe('a phone number without its country code', () => {
  it('is taken with the option country, and is the same number with it', async () => {
    const clock = new Clock();
    const { otp, messenger } = otpOn(memoryStore({ now: clock.now }), clock, { country: 'NG' });
    const { id } = await otp.issue({ to_phone: '0801 234 5678', purpose });
    expect(messenger.messages).toMatchObject([{ to_phone: phone }]);
    expect(await otp.check(id, messenger.lastCode, { purpose })).toEqual({ ok: true, to_phone: phone });
    expect(await rejected(otp.issue({ to_phone: '12', purpose }))).toMatchObject({
      code: 'invalid_input',
      issues: [{ path: ['to_phone'], message: expect.stringContaining('as it is written in NG') }],
    });
  });
});
