import { describe, expect, expectTypeOf, it } from 'vitest';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import type { OtpError } from '../../src/errors/errors.ts';
import { isValidationError } from '../../src/errors/errors.ts';
import type { CheckedOtp } from '../../src/otp/check-code.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import type { OtpMessenger } from '../../src/otp/otp-messenger.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { deploymentAt } from '../client/clients.ts';
import { rejected, thrownBy } from '../support/refusal.ts';
import { Clock, FakeMessenger, otpOn, phone, purpose, secret } from './support.ts';

const sound: OtpOptions = {
  messenger: new FakeMessenger(),
  store: memoryStore(),
  secrets: [secret],
  allowedPrefixes: 'any',
};

describe('createOtp', () => {
  it('takes its options, each alone, and leaves them as they are', () => {
    const more = { ...sound, codeLength: 8, limits: { phone: { max: 1, windowMs: 1 } } };
    const copy = structuredClone({ codeLength: more.codeLength, limits: more.limits });
    createOtp(more);
    expect({ codeLength: more.codeLength, limits: more.limits }).toEqual(copy);
    createOtp({ ...sound, codeLength: undefined });
    createOtp({ ...sound, secrets: [new Uint8Array(32), 'é'.repeat(16)] });
  });

  it.each<[string, unknown, RegExp]>([
    ['an option that there is not', { maxTries: 3 }, /"maxTries" is not an option of createOtp/],
    [
      'a misspelt limit',
      { limits: { phones: {} } },
      /"phones" is not an option of limits\. Did you mean "phone"/,
    ],
    [
      'a misspelt part of a limit',
      { limits: { ip: { max: 1, window: 1 } } },
      /of limits\.ip\. Did you mean "windowMs"/,
    ],
    ['no messenger', { messenger: undefined }, /^messenger/],
    ['a list of messengers', { messenger: [new FakeMessenger()] }, /^messenger/],
    ['what is no messenger', { messenger: { send() {} } }, /^messenger/],
    ['no store', { store: undefined }, /^store/],
    ['no secrets', { secrets: [] }, /^secrets/],
    ['a secret that is no list', { secrets: secret }, /^secrets/],
    ['a short secret', { secrets: [secret, 'x'.repeat(31)] }, /at least 32 bytes/],
    ['a secret twice', { secrets: [secret, secret] }, /twice/],
    ['no prefixes', { allowedPrefixes: undefined }, /^allowedPrefixes/],
    ['an empty list of prefixes', { allowedPrefixes: [] }, /^allowedPrefixes/],
    ['a prefix without +', { allowedPrefixes: ['234'] }, /^allowedPrefixes/],
    ['a prefix as at home', { allowedPrefixes: ['0801'] }, /'\+234': with the country code.* normalizePhone/],
    ['a country that there is not', { country: 'Nigeria' }, /^country must be two capital letters/],
    ['codes that are too short', { codeLength: 5 }, /^codeLength.*6 to 10/],
    ['codes that are too long', { codeLength: 11 }, /^codeLength/],
    ['a lifetime of more than ten minutes', { lifetimeMs: 600_001 }, /^lifetimeMs/],
    ['no attempts', { maxAttempts: 0 }, /^maxAttempts/],
    ['no messages', { maxSends: 0 }, /^maxSends/],
    ['a negative cool-down', { coolDownMs: [-1] }, /coolDownMs/],
    ['a cool-down that is no list', { coolDownMs: 30_000 }, /coolDownMs/],
    ['a ratio above one', { limits: { unconfirmedPerIp: { floor: 1, ratio: 30, windowMs: 1 } } }, /ratio/],
    ['a limit of nothing', { limits: { failuresPerPhone: 0 } }, /failuresPerPhone/],
    ['a message that is no function', { message: 'Your code' }, /^message/],
    ['a clock that is no function', { now: 5 }, /^now/],
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

  it('refuses a source of random bytes that gives too few, before anything is sent', async () => {
    const { otp, messenger } = otpOn(memoryStore(), new Clock(), { random: () => new Uint8Array(4) });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
      code: 'invalid_option',
    });
    expect(messenger.messages).toEqual([]);
  });

  it('takes a MessengerClient as it is', () => {
    expectTypeOf<MessengerClient>().toExtend<OtpMessenger>();
    expect(MessengerClient).toBeDefined();
  });
});

describe('each call', () => {
  const makeOtp = () => otpOn(memoryStore(), new Clock(), { allowedPrefixes: ['+234', '+1415'] });

  it.each<[string, (call: Otp) => Promise<unknown>, string]>([
    ['a malformed phone number', (call) => call.issue({ to_phone: '0801 234 5678', purpose }), 'to_phone'],
    [
      'a phone number that is no text',
      (call) => call.issue({ to_phone: 234 as unknown as string, purpose }),
      'to_phone',
    ],
    ['no purpose', (call) => call.issue({ to_phone: phone } as Parameters<Otp['issue']>[0]), 'purpose'],
    ['an empty purpose', (call) => call.issue({ to_phone: phone, purpose: '' }), 'purpose'],
    ['a very long purpose', (call) => call.issue({ to_phone: phone, purpose: 'x'.repeat(65) }), 'purpose'],
    ['half a character', (call) => call.issue({ to_phone: phone, purpose: '\ud800' }), 'purpose'],
    ['an empty subject', (call) => call.issue({ to_phone: phone, purpose, subject: '' }), 'subject'],
    ['an address with a port', (call) => call.issue({ to_phone: phone, purpose, ip: '1.2.3.4:80' }), 'ip'],
    ['an address of resend', (call) => call.resend('x', { ip: 'localhost' }), 'ip'],
    ['an id that is no text', (call) => call.resend(5 as unknown as string), 'id'],
    ['a code that is a number', (call) => call.check('x', 493021 as unknown as string, { purpose }), 'code'],
    [
      'an object in place of a code',
      (call) => call.check('x', { $ne: '' } as unknown as string, { purpose }),
      'code',
    ],
    ['an address of check', (call) => call.check('x', '1', { purpose, ip: '' }), 'ip'],
  ])('refuses %s by its name, and does nothing', async (_, call, member) => {
    const { otp, messenger } = makeOtp();
    const error = await rejected(call(otp));
    expect(isValidationError(error) && error.issues).toMatchObject([{ path: [member] }]);
    expect(messenger.messages).toEqual([]);
  });

  it('refuses members that there are not', async () => {
    const { otp } = makeOtp();
    const misspelt = { to_phone: phone, purpose, subjekt: 'x' };
    expect(await rejected(otp.issue(misspelt))).toMatchObject({ code: 'invalid_option' });
    expect(
      await rejected(otp.check('x', '1', { purpose, subjekt: 'x' } as { purpose: string })),
    ).toMatchObject({
      code: 'invalid_option',
    });
  });

  it('sends only to prefixes that are allowed', async () => {
    const { otp, messenger } = makeOtp();
    for (const refused of ['+442079460018', '+12025550123']) {
      expect(await rejected(otp.issue({ to_phone: refused, purpose }))).toMatchObject({
        code: 'not_allowed',
      });
    }
    await otp.issue({ to_phone: '+1 415 555 2671', purpose });
    expect(messenger.messages).toHaveLength(1);
  });

  it('sends nothing again to a prefix that is no longer allowed', async () => {
    const clock = new Clock();
    const store = memoryStore({ now: clock.now });
    const { id } = await otpOn(store, clock, { coolDownMs: [] }).otp.issue({ to_phone: phone, purpose });
    const stricter = otpOn(store, clock, { coolDownMs: [], allowedPrefixes: ['+1'] });
    expect(await rejected(stricter.otp.resend(id))).toMatchObject({ code: 'not_allowed' });
    expect(stricter.messenger.messages).toEqual([]);
  });

  it('answers a very long code or id as any other', async () => {
    const { otp } = makeOtp();
    const notValid = { ok: false, reason: 'not_valid', attemptsLeft: 0 };
    expect(await otp.check('x'.repeat(1_000_000), '1'.repeat(1_000_000), { purpose })).toEqual(notValid);
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
    expectTypeOf<OtpError['code']>().toEqualTypeOf<
      'cool_down' | 'limit_reached' | 'not_allowed' | 'not_sent' | 'refused' | 'store_unavailable'
    >();
  });
});

describe('a number without its country code', () => {
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

  it('is refused without it, and the error names what reads it', async () => {
    const { otp } = otpOn(memoryStore(), new Clock());
    const error = await rejected(otp.issue({ to_phone: '0801 234 5678', purpose }));
    expect(error).toMatchObject({
      message: expect.stringMatching(/to_phone.*give the country \("NG"\) to createOtp or normalizePhone/),
    });
  });

  it('is refused by MessengerClient, and the error names the option that reads it', async () => {
    const messenger = new MessengerClient({
      deployment: deploymentAt('https://m.example'),
      apiKey: 'API-X-1',
    });
    const error = await rejected(messenger.sendMessage({ to_phone: '0801 234 5678', message: 'x' }));
    expect(error).toMatchObject({ message: expect.stringContaining('the option normalizePhone') });
  });
});
