import { describe, expect, it } from 'vitest';
import type { Otp } from '../../src/otp/create-otp.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected } from '../support/refusal.ts';
import { memoryOtp, notCode, notSent, phone, purpose } from './support.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const other = '+2348012345679';

describe('the cool-down', () => {
  it('grows with each message, and has its last length from then on', async () => {
    const { clock, otp } = memoryOtp({ limits: { phone: { max: 100, windowMs: hour } } });
    for (const wait of [30_000, 60_000, 120_000, 300_000, 300_000, 300_000]) {
      const { resendAt } = await otp.issue({ to_phone: phone, purpose });
      expect(resendAt).toBe(clock.at + wait);
      clock.at = resendAt - 1;
      const early = await rejected(otp.issue({ to_phone: phone, purpose }));
      expect(early).toMatchObject({ code: 'cool_down', retryAfterMs: 1, limit: undefined });
      clock.at = resendAt;
    }
  });

  it('of a message stays when an earlier one turns out not to be sent', async () => {
    const { clock, otp, messenger } = memoryOtp();
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    messenger.before = () => isAnswered;
    const slow = rejected(otp.issue({ to_phone: phone, purpose }));
    await nextTurn();
    clock.at += 30_000;
    messenger.before = undefined;
    await otp.issue({ to_phone: phone, purpose });
    messenger.failures.push(notSent());
    answer();
    expect(await slow).toMatchObject({ code: 'not_sent' });
    expect(await refused(otp.issue({ to_phone: phone, purpose }))).toBe('cool_down 30000');
  });

  it('begins anew after a code was confirmed: the next purpose need not wait', async () => {
    const { otp, messenger } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    const next = await otp.issue({ to_phone: phone, purpose: 'withdraw' });
    expect(next.resendAt - next.expiresAt).toBe(30_000 - 600_000);
  });

  it('is remembered for the window after its end also when it is one of a day', async () => {
    const limits = { phone: { max: 9, windowMs: 10 * hour } };
    const { clock, otp } = memoryOtp({ coolDownMs: [20 * hour, day], limits });
    clock.at = (await otp.issue({ to_phone: phone, purpose })).resendAt + 10 * hour - 1;
    expect((await otp.issue({ to_phone: phone, purpose })).resendAt).toBe(clock.at + day);
  });

  it('is forgotten when it has been over for an hour', async () => {
    for (const [wait, next] of [
      [hour - 1, 120_000],
      [hour, 30_000],
    ] as const) {
      const { clock, otp } = memoryOtp();
      clock.at = (await otp.issue({ to_phone: phone, purpose })).resendAt;
      clock.at = (await otp.issue({ to_phone: phone, purpose })).resendAt + wait;
      expect((await otp.issue({ to_phone: phone, purpose })).resendAt).toBe(clock.at + next);
    }
  });
});

describe('the limit per phone number', () => {
  it('counts messages of all ids, also those that were confirmed, and has room again as they age', async () => {
    const { clock, otp, messenger } = memoryOtp({
      coolDownMs: [],
      limits: { phone: { max: 3, windowMs: hour } },
    });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    clock.at += 10 * minute;
    const second = await otp.issue({ to_phone: phone, purpose });
    await otp.resend(second.id);
    const denied = { code: 'limit_reached', limit: 'phone', retryAfterMs: 50 * minute };
    expect(await rejected(otp.resend(second.id))).toMatchObject(denied);
    expect(await rejected(otp.issue({ to_phone: '+234 (0)801 234 5678', purpose }))).toMatchObject(denied);
    await otp.issue({ to_phone: other, purpose });
    clock.at += 50 * minute;
    await otp.issue({ to_phone: phone, purpose });
  });
});

describe('maxSends', () => {
  it('is the number of messages of one id', async () => {
    const { otp } = memoryOtp({ coolDownMs: [], maxSends: 2 });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.resend(id);
    const error = await rejected(otp.resend(id));
    expect(error).toMatchObject({ code: 'limit_reached', limit: 'maxSends' });
    expect(error).not.toHaveProperty('retryAfterMs');
  });
});

describe('the limit per address', () => {
  const limits = { ip: { max: 2, windowMs: hour } };

  it.each([
    ['198.51.100.7', '::ffff:198.51.100.7', '198.51.100.8'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ])('counts messages to all numbers for %s, and as the same for %s', async (ip, same, another) => {
    const { clock, otp } = memoryOtp({ limits });
    await otp.issue({ to_phone: phone, purpose, ip });
    await otp.issue({ to_phone: other, purpose, ip: same });
    const third = { to_phone: '+2348012345680', purpose };
    expect(await refused(otp.issue({ ...third, ip }))).toBe(`limit_reached ip ${hour}`);
    await otp.issue({ ...third, ip: another });
    clock.at += hour;
    await otp.issue({ ...third, ip: same });
  });

  it('counts a message that is sent again for the address of the first, and none without an address', async () => {
    const { otp } = memoryOtp({ limits, coolDownMs: [] });
    const { id } = await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    await otp.resend(id);
    expect(await refused(otp.resend(id))).toBe(`limit_reached ip ${hour}`);
    for (let last = 0; last < 5; last++) await otp.issue({ to_phone: `+23480123456${last}0`, purpose });
  });

  it('lets an address try only so many wrong codes, for whatever ids, and says nothing of these', async () => {
    const { clock, otp, messenger } = memoryOtp({ limits });
    const ip = '203.0.113.5';
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, notCode(messenger.lastCode), { purpose, ip });
    await otp.check('A'.repeat(22), '123456', { purpose, ip });
    for (const any of [id, 'A'.repeat(22)]) {
      expect(await refused(otp.check(any, messenger.lastCode, { purpose, ip }))).toBe(
        `limit_reached ip ${hour}`,
      );
    }
    // No attempt was counted, and nobody else is held up.
    const again = await otp.check(id, notCode(messenger.lastCode), { purpose, ip: '203.0.113.6' });
    expect(again).toMatchObject({ attemptsLeft: 3 });
    expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    clock.at += hour;
    expect(await otp.check(id, '123456', { purpose, ip })).toMatchObject({ reason: 'not_valid' });
  });
});

describe('the limit on messages that nobody confirms', () => {
  const ip = '198.51.100.7';
  const limits = { ip: { max: 1_000, windowMs: hour } };
  const number = (index: number) => `+23480${String(10_000_000 + index)}`;

  it('stops an address after 10 of them in a day', async () => {
    const { clock, otp } = memoryOtp({ limits });
    for (let sent = 0; sent < 10; sent++) await otp.issue({ to_phone: number(sent), purpose, ip });
    expect(await refused(otp.issue({ to_phone: number(10), purpose, ip }))).toBe(
      `limit_reached unconfirmedPerIp ${day}`,
    );
    await otp.issue({ to_phone: number(10), purpose, ip: '198.51.100.8' });
    clock.at += day;
    await otp.issue({ to_phone: number(10), purpose, ip });
  });

  it('lets an address go on of whose messages three in ten are confirmed, and stops it at one in five', async () => {
    const issue = async (isConfirmed: (sent: number) => boolean) => {
      const { otp, messenger } = memoryOtp({ limits });
      for (let sent = 0; sent < 40; sent++) {
        const { id } = await otp.issue({ to_phone: number(sent), purpose, ip });
        if (isConfirmed(sent)) await otp.check(id, messenger.lastCode, { purpose });
      }
    };
    await issue((sent) => sent % 10 < 3);
    expect(await refused(issue((sent) => sent % 5 === 0))).toMatch(/^limit_reached unconfirmedPerIp/);
  });

  it('counts all messages of an id that is confirmed in the end', async () => {
    const { otp, messenger } = memoryOtp({ limits, coolDownMs: [] });
    for (let flow = 0; flow < 5; flow++) {
      const { id } = await otp.issue({ to_phone: number(flow), purpose, ip });
      for (let again = 0; again < 4; again++) await otp.resend(id);
      await otp.check(id, messenger.lastCode, { purpose });
    }
    expect(messenger.messages).toHaveLength(25);
  });
});

describe('guessing', () => {
  it('on one id leaves the codes of another id of the same number alone', async () => {
    const { otp, messenger } = memoryOtp({ coolDownMs: [], limits: { failuresPerPhone: 5 } });
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
    const { clock, otp, messenger } = memoryOtp({ coolDownMs: [], limits: { failuresPerPhone: 10 } });
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
    const { clock, otp, messenger } = memoryOtp({ coolDownMs: [], limits: { failuresPerPhone: 10 } });
    for (let flow = 0; flow < 8; flow++) {
      clock.at += hour;
      const { id } = await otp.issue({ to_phone: phone, purpose });
      for (let guess = 0; guess < 4; guess++) await otp.check(id, notCode(messenger.lastCode), { purpose });
      expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    }
  });
});

it('of several limits, the one that lasts longest is named', async () => {
  const { otp } = memoryOtp({
    limits: { phone: { max: 1, windowMs: minute }, ip: { max: 1, windowMs: hour } },
  });
  const request = { to_phone: phone, purpose, ip: '198.51.100.7' };
  await otp.issue(request);
  expect(await refused(otp.issue(request))).toBe(`limit_reached ip ${hour}`);
});

/** `<code> <limit> <milliseconds to wait>` */
async function refused(promise: Promise<unknown> | ReturnType<Otp['issue']>): Promise<string> {
  const error = await rejected(promise);
  if (!(error instanceof Error && 'code' in error && 'limit' in error && 'retryAfterMs' in error))
    throw error;
  return [error.code, error.limit, error.retryAfterMs].filter((part) => part !== undefined).join(' ');
}
