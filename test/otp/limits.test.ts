import { describe, expect, it } from 'vitest';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected } from '../support/refusal.ts';
import { memoryOtp, notCode, notSent, phone, purpose } from './support.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const other = '+2348012345679';
const limited = 'limit_reached messagesPerPhone';

describe('the cool-down', () => {
  it('lets the next message leave a minute later, and not a moment earlier', async () => {
    const { clock, otp } = memoryOtp();
    const { resendAt } = await otp.issue({ to_phone: phone, purpose });
    expect(resendAt).toBe(clock.at + minute);
    clock.at = resendAt - 1;
    const early = await rejected(otp.issue({ to_phone: phone, purpose }));
    expect(early).toMatchObject({ code: 'cool_down', retryAfterMs: 1, limit: undefined });
    clock.at = resendAt;
    await otp.issue({ to_phone: phone, purpose });
  });

  it.each<[Partial<OtpOptions>, string]>([
    [{}, `cool_down ${minute}`],
    [{ cooldownMs: 0, limits: { messagesPerPhone: { max: 1, windowMs: minute } } }, `${limited} ${minute}`],
  ])('or count of a message stays when an earlier one was not sent: %j', async (options, denial) => {
    const { clock, otp, messenger } = memoryOtp(options);
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    messenger.before = () => isAnswered;
    const slow = rejected(otp.issue({ to_phone: phone, purpose }));
    await nextTurn();
    clock.at += minute;
    messenger.before = undefined;
    await otp.issue({ to_phone: phone, purpose });
    messenger.failures.push(notSent());
    answer();
    expect(await slow).toMatchObject({ code: 'not_sent' });
    expect(await refused(otp.issue({ to_phone: phone, purpose }))).toBe(denial);
  });

  it('ends with a right code: the next purpose need not wait', async () => {
    const { otp, messenger } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    await otp.issue({ to_phone: phone, purpose: 'withdraw' });
  });
});

describe('the limit per phone number', () => {
  it('counts messages of all ids, also those that were confirmed, for an hour from the first', async () => {
    const limits = { messagesPerPhone: { max: 3, windowMs: hour } };
    const { clock, otp, messenger } = memoryOtp({ cooldownMs: 0, limits });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    clock.at += 10 * minute;
    const second = await otp.issue({ to_phone: phone, purpose });
    await otp.resend(second.id);
    const denied = { code: 'limit_reached', limit: 'messagesPerPhone', retryAfterMs: 50 * minute };
    expect(await rejected(otp.resend(second.id))).toMatchObject(denied);
    expect(await rejected(otp.issue({ to_phone: '+234 (0)801 234 5678', purpose }))).toMatchObject(denied);
    await otp.issue({ to_phone: other, purpose });
    clock.at += 50 * minute;
    for (let sent = 0; sent < 3; sent++) await otp.issue({ to_phone: phone, purpose });
    expect(await refused(otp.issue({ to_phone: phone, purpose }))).toBe(`${limited} ${hour}`);
  });
});

describe('the limit on messages that nobody confirms', () => {
  const ip = '198.51.100.7';
  const number = (index: number) => `+23480${String(10_000_000 + index)}`;

  it.each([
    [ip, '::ffff:198.51.100.7', '198.51.100.8'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ])('stops %s after 10 in a day, also as %s', async (address, same, another) => {
    const { clock, otp } = memoryOtp();
    for (let sent = 0; sent < 10; sent++) await otp.issue({ to_phone: number(sent), purpose, ip: address });
    expect(await refused(otp.issue({ to_phone: number(10), purpose, ip: same }))).toBe(
      `limit_reached unconfirmedPerIp ${day}`,
    );
    await otp.issue({ to_phone: number(10), purpose, ip: another });
    await otp.issue({ to_phone: number(11), purpose });
    clock.at += day;
    await otp.issue({ to_phone: number(10), purpose, ip: address });
  });

  it('lets an address go on of whose messages three in ten are confirmed, and stops it at one in five', async () => {
    const issue = async (isConfirmed: (sent: number) => boolean) => {
      const { otp, messenger } = memoryOtp();
      for (let sent = 0; sent < 40; sent++) {
        const { id } = await otp.issue({ to_phone: number(sent), purpose, ip });
        if (isConfirmed(sent)) await otp.check(id, messenger.lastCode, { purpose });
      }
    };
    await issue((sent) => sent % 10 < 3);
    expect(await refused(issue((sent) => sent % 5 === 0))).toMatch(/^limit_reached unconfirmedPerIp/);
  });

  it('counts all messages of an id that is confirmed in the end, on that day alone', async () => {
    const { clock, otp, messenger } = memoryOtp({ cooldownMs: 0 });
    for (let flow = 0; flow < 5; flow++) {
      const { id } = await otp.issue({ to_phone: number(flow), purpose, ip });
      for (let again = 0; again < 4; again++) await otp.resend(id);
      await otp.check(id, messenger.lastCode, { purpose });
      clock.at += hour;
    }
    expect(messenger.messages).toHaveLength(25);
    // The first of them is a day ago.
    clock.at += day - 2 * hour;
    for (let sent = 0; sent < 10; sent++) await otp.issue({ to_phone: number(10 + sent), purpose, ip });
    expect(await refused(otp.issue({ to_phone: number(30), purpose, ip }))).toMatch(/unconfirmedPerIp/);
  });
});

describe('guessing', () => {
  it('on one id leaves the codes of another id of the same number alone', async () => {
    const { otp, messenger } = memoryOtp({ cooldownMs: 0, limits: { failuresPerPhone: 5 } });
    const victim = await otp.issue({ to_phone: phone, purpose });
    const code = messenger.lastCode;
    const attacker = await otp.issue({ to_phone: phone, purpose });
    const wrong = notCode(...(messenger.codes as [string, string]));
    for (let guess = 0; guess < 10; guess++) await otp.check(attacker.id, wrong, { purpose });
    expect(await otp.check(victim.id, code, { purpose })).toMatchObject({ ok: true });
  });

  it('on ids that do not exist changes nothing for anybody', async () => {
    const { otp, store } = memoryOtp();
    await otp.issue({ to_phone: phone, purpose });
    const before = await store.list({ prefix: '', limit: 10 });
    for (let guess = 0; guess < 10; guess++) await otp.check(`guess-${guess}`, '123456', { purpose });
    expect(await store.list({ prefix: '', limit: 10 })).toEqual(before);
  });

  it('beyond failuresPerPhone gets no new codes for a day', async () => {
    const { clock, otp, messenger } = memoryOtp({ cooldownMs: 0, limits: { failuresPerPhone: 10 } });
    for (let flow = 0; flow < 2; flow++) {
      const { id } = await otp.issue({ to_phone: phone, purpose });
      for (let guess = 0; guess < 5; guess++) await otp.check(id, notCode(messenger.lastCode), { purpose });
    }
    expect(await refused(otp.issue({ to_phone: phone, purpose }))).toBe(
      `limit_reached failuresPerPhone ${day}`,
    );
    clock.at += day;
    await otp.issue({ to_phone: phone, purpose });
  });

  it('is forgotten by the next right code', async () => {
    const { clock, otp, messenger } = memoryOtp({ cooldownMs: 0, limits: { failuresPerPhone: 10 } });
    for (let flow = 0; flow < 8; flow++) {
      clock.at += hour;
      const { id } = await otp.issue({ to_phone: phone, purpose });
      for (let guess = 0; guess < 4; guess++) await otp.check(id, notCode(messenger.lastCode), { purpose });
      expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    }
  });
});

it('of several limits, the one that lasts longest is named', async () => {
  const unconfirmedPerIp = { floor: 1, ratio: 0.3, windowMs: hour };
  const { otp } = memoryOtp({ limits: { messagesPerPhone: { max: 1, windowMs: minute }, unconfirmedPerIp } });
  const request = { to_phone: phone, purpose, ip: '198.51.100.7' };
  await otp.issue(request);
  expect(await refused(otp.issue(request))).toBe(`limit_reached unconfirmedPerIp ${hour}`);
});

/** `<code> <limit> <milliseconds to wait>` */
async function refused(promise: Promise<unknown>): Promise<string> {
  const error = await rejected(promise);
  if (!(error instanceof Error && 'code' in error && 'limit' in error && 'retryAfterMs' in error))
    throw error;
  return [error.code, error.limit, error.retryAfterMs].filter((part) => part !== undefined).join(' ');
}
