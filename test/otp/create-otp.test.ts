import { describe, expect, it } from 'vitest';
import type { CheckedOtp } from '../../src/otp/check-code.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import type { OtpReport } from '../../src/otp/otp-report.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { rejected } from '../support/refusal.ts';
import {
  memoryOtp,
  notCode,
  notSent,
  notValid,
  numberRefused,
  otpOn,
  phone,
  purpose,
  secret,
  unknown,
} from './support.ts';

const [older, newer] = ['older-secret-0123456789abcdef0123456789', 'newer-secret-0123456789abcdef0123456789'];

describe('a code', () => {
  it('is accepted once, by any process with the store', async () => {
    const { otp, messenger, clock, store } = memoryOtp();
    const issued = await otp.issue({ to_phone: '+234 801 234 5678', purpose });
    expect(issued).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      expiresAt: clock.at + 600_000,
      resendAt: clock.at + 60_000,
      delivery: 'sent',
    });
    const message = expect.stringMatching(/^\d{6} is your code\. It is valid for 10 minutes/);
    expect(messenger.messages).toEqual([{ to_phone: phone, message }]);
    const { otp: another } = otpOn(store, clock);
    const typed = messenger.lastCode;
    expect(await another.check(issued.id, typed, { purpose })).toEqual({ ok: true, to_phone: phone });
    expect(await otp.check(issued.id, typed, { purpose })).toEqual(notValid);
  });

  it('costs no attempt where the text has none', async () => {
    const { otp, messenger } = memoryOtp({ limits: { failuresPerPhone: 1 } });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    const { lastCode } = messenger;
    const check = (typed: string) => otp.check(id, typed, { purpose });
    for (const typed of ['', 'yes', lastCode.slice(1), lastCode.repeat(1_000)])
      expect(await check(typed)).toEqual({ ok: false, reason: 'wrong', attemptsLeft: 5 });
    expect(await check(notCode(lastCode))).toMatchObject({ attemptsLeft: 4 });
    expect(await check(lastCode)).toMatchObject({ ok: true });
    expect(await check('')).toEqual(notValid);
  });

  it('is not valid after the last attempt, and is not sent again', async () => {
    const { otp, messenger } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    const wrong = notCode(messenger.lastCode);
    for (const attemptsLeft of [4, 3, 2, 1])
      expect(await otp.check(id, wrong, { purpose })).toEqual({ ok: false, reason: 'wrong', attemptsLeft });
    expect(await otp.check(id, wrong, { purpose })).toEqual(notValid);
    expect(await otp.check(id, messenger.lastCode, { purpose })).toEqual(notValid);
    expect(await rejected(otp.resend(id))).toMatchObject({ code: 'not_allowed' });
  });

  it('is good until it expires, and not a moment longer', async () => {
    const { otp, messenger, clock } = memoryOtp({ cooldownMs: 0 });
    const first = await otp.issue({ to_phone: phone, purpose });
    const second = await otp.issue({ to_phone: phone, purpose });
    const [code = '', otherCode = ''] = messenger.codes;
    clock.at = first.expiresAt - 1;
    expect(await otp.check(first.id, code, { purpose })).toMatchObject({ ok: true });
    clock.at = second.expiresAt;
    expect(await otp.check(second.id, otherCode, { purpose })).toEqual(notValid);
    expect(await rejected(otp.resend(second.id))).toMatchObject({ code: 'not_allowed' });
  });

  it('that is sent again leaves the earlier one good for its own time, and resets no attempts', async () => {
    const { otp, messenger, clock } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    const wrong = notCode(messenger.lastCode);
    for (let guess = 0; guess < 2; guess++) await otp.check(id, wrong, { purpose });
    clock.at += 500_000;
    expect(await otp.resend(id)).toMatchObject({ id, expiresAt: clock.at + 600_000, delivery: 'sent' });
    const [first = '', second = ''] = messenger.codes;
    expect(first).not.toBe(second);
    expect(await otp.check(id, wrong, { purpose })).toMatchObject({ attemptsLeft: 2 });
    clock.at += 100_000;
    // The first code has expired: typed in, it is one more wrong guess.
    expect(await otp.check(id, first, { purpose })).toMatchObject({ reason: 'wrong', attemptsLeft: 1 });
    expect(await otp.check(id, second, { purpose })).toMatchObject({ ok: true });
  });

  it('is for one id, one purpose and one subject', async () => {
    const { otp, messenger } = memoryOtp({ cooldownMs: 0 });
    const right = { purpose: 'withdraw', subject: 'payment-1' };
    const { id } = await otp.issue({ to_phone: phone, ...right });
    const code = messenger.lastCode;
    const other = await otp.issue({ to_phone: phone, ...right });
    for (const use of [{ ...right, purpose }, { ...right, subject: 'payment-2' }, { purpose: 'withdraw' }])
      expect(await otp.check(id, code, use)).toEqual(notValid);
    if (code !== messenger.lastCode)
      expect(await otp.check(other.id, code, right)).toMatchObject({ reason: 'wrong' });
    expect(await otp.check(id, code, right)).toMatchObject({ ok: true });
  });
});

describe('calls at the same time', () => {
  it('compare no more than maxAttempts wrong codes', async () => {
    const { otp, messenger } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    const wrong = notCode(messenger.lastCode);
    const checked = await atOnce(50, () => otp.check(id, wrong, { purpose }));
    expect(tally(checked)).toEqual({ wrong: 4, not_valid: 46 });
  });

  it('accept the right code once, if it comes before the attempts are used up', async () => {
    for (const place of [0, 4, 5, 19]) {
      const { otp, messenger } = memoryOtp();
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const [right, wrong] = [messenger.lastCode, notCode(messenger.lastCode)];
      const checked = await atOnce(20, (index) =>
        otp.check(id, index === place ? right : wrong, { purpose }),
      );
      const accepted = place < 5 ? 1 : 0;
      expect(tally(checked).accepted ?? 0).toBe(accepted);
    }
    const { otp, messenger } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    const checked = await atOnce(20, () => otp.check(id, messenger.lastCode, { purpose }));
    expect(tally(checked)).toEqual({ accepted: 1, not_valid: 19 });
  });

  it.each<[string, Partial<OtpOptions>, number]>([
    ['the limit per phone number lets ten', { cooldownMs: 0 }, 10],
    ['the cool-down lets one', {}, 1],
  ])('send no more messages than allowed: %s through', async (_, options, sent) => {
    const { otp, messenger } = memoryOtp(options);
    await Promise.allSettled(Array.from({ length: 30 }, () => otp.issue({ to_phone: phone, purpose })));
    expect(messenger.messages).toHaveLength(sent);
  });
});

describe('a message', () => {
  it('that was not sent is not counted, and its code is not valid', async () => {
    const limits = { messagesPerPhone: { max: 2, windowMs: 3_600_000 } };
    const { otp, messenger, clock, store } = memoryOtp({ limits });
    messenger.failures.push(notSent(), notSent(), notSent());
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'not_sent' });
    expect(await flows(store)).toEqual([]);
    // Neither the limit nor the cool-down has begun.
    const { id } = await otp.issue({ to_phone: phone, purpose });
    clock.at += 60_000;
    messenger.failures.push(notSent());
    expect(await rejected(otp.resend(id))).toMatchObject({ code: 'not_sent' });
    // Nor the cool-down of the second message.
    await otp.resend(id);
    expect(messenger.messages).toHaveLength(2);
    expect(await otp.check(id, messenger.codes[0] ?? '', { purpose })).toMatchObject({ ok: true });
  });

  it('with an unknown outcome leaves a valid code, and starts the cool-down', async () => {
    const { otp, messenger } = memoryOtp();
    messenger.failures.push(unknown());
    const issued = await otp.issue({ to_phone: phone, purpose });
    expect(issued.delivery).toBe('unknown');
    expect(await rejected(otp.resend(issued.id))).toMatchObject({ code: 'cool_down', retryAfterMs: 60_000 });
    expect(await otp.check(issued.id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
  });

  it('to a number that the service refuses has no code, and stays counted', async () => {
    const { otp, messenger, store } = memoryOtp();
    messenger.failures.push(numberRefused());
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'refused' });
    expect(await flows(store)).toEqual([]);
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'cool_down' });
  });

  it('that is sent again and refused is one of maxSends, and leaves the earlier code', async () => {
    const { otp, messenger } = memoryOtp({ cooldownMs: 0, maxSends: 2 });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    messenger.failures.push(numberRefused());
    expect(await rejected(otp.resend(id))).toMatchObject({ code: 'refused' });
    expect(await rejected(otp.resend(id))).toMatchObject({ code: 'limit_reached', limit: 'maxSends' });
    expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
  });
});

describe('the store', () => {
  it('holds no phone number, code, id, purpose, subject, address or secret', async () => {
    const { otp, messenger, store } = memoryOtp({ cooldownMs: 0 });
    const use = { purpose: 'purpose-xyz', subject: 'subject-xyz' };
    const { id } = await otp.issue({ to_phone: phone, ip: '198.51.100.7', ...use });
    await otp.resend(id);
    const wrong = notCode(messenger.codes[0] ?? '', ...messenger.codes);
    await otp.check(id, wrong, use);
    const text = JSON.stringify(await store.list({ prefix: '', limit: 1000 }));
    expect(text.match(/otp:(?:flow|ip|phone)/g)).toHaveLength(3);
    const written = [phone.slice(1), '8012345678', ...messenger.codes, id, 'purpose-xyz', 'subject-xyz'];
    for (const hidden of [...written, '198.51.100', secret])
      for (const form of [hidden, ...encoded(hidden)]) expect(text).not.toContain(form);
  });

  it('holds nothing when all times have passed', async () => {
    const { otp, messenger, store, clock } = memoryOtp();
    const { id } = await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    await otp.check(id, notCode(messenger.lastCode), { purpose });
    clock.at += 86_400_000;
    expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
  });

  it('keeps codes good when a new secret takes over, until the old one is dropped', async () => {
    const options = { cooldownMs: 0, limits: { messagesPerPhone: { max: 2, windowMs: 3_600_000 } } };
    const { otp: before, messenger, store, clock } = memoryOtp({ ...options, secrets: [older] });
    const { id } = await before.issue({ to_phone: phone, purpose });
    const last = await before.issue({ to_phone: phone, purpose });
    const after = otpOn(store, clock, { ...options, secrets: [newer, older] });
    // The limit counts anew.
    await after.otp.resend(id);
    const wrong = notCode(messenger.lastCode, ...messenger.codes, ...after.messenger.codes);
    expect(await after.otp.check(id, wrong, { purpose })).toMatchObject({ attemptsLeft: 4 });
    expect(await after.otp.check(id, after.messenger.lastCode, { purpose })).toMatchObject({ ok: true });

    const { otp: without } = otpOn(store, clock, { secrets: [newer] });
    expect(await without.check(last.id, messenger.lastCode, { purpose })).toEqual(notValid);
    expect(await rejected(without.resend(last.id))).toMatchObject({ code: 'not_allowed' });
  });
});

describe('onOtp', () => {
  it('reports each call once, with its outcome and limit', async () => {
    const reports: OtpReport[] = [];
    const { otp, messenger, clock } = memoryOtp({
      onOtp: (report) => reports.push(report),
      limits: { messagesPerPhone: { max: 3, windowMs: 3_600_000 } },
    });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await rejected(otp.issue({ to_phone: phone, purpose }));
    await rejected(otp.issue({ to_phone: '+14155552671', purpose }));
    await rejected(otp.issue({ to_phone: 'x', purpose }));
    await rejected(otp.issue({ to_phone: phone, purpose, other: 1 } as Parameters<typeof otp.issue>[0]));
    clock.at += 60_000;
    messenger.failures.push(unknown());
    await otp.resend(id);
    clock.at += 60_000;
    messenger.failures.push(numberRefused());
    await rejected(otp.resend(id));
    clock.at += 60_000;
    await rejected(otp.resend(id));
    await rejected(otp.resend('unknown'));
    await otp.check('unknown', '123456', { purpose });
    await otp.check(id, notCode('000000', ...messenger.codes), { purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    await otp.cancel(id);
    expect(reports).toEqual(
      [
        { action: 'issue', outcome: 'sent' },
        { action: 'issue', outcome: 'cool_down' },
        { action: 'issue', outcome: 'not_allowed' },
        { action: 'issue', outcome: 'invalid_input' },
        { action: 'issue', outcome: 'failed' },
        { action: 'resend', outcome: 'unknown' },
        { action: 'resend', outcome: 'refused' },
        { action: 'resend', outcome: 'limit_reached', limit: 'messagesPerPhone' },
        { action: 'resend', outcome: 'not_allowed' },
        { action: 'check', outcome: 'not_valid' },
        { action: 'check', outcome: 'wrong' },
        { action: 'check', outcome: 'accepted' },
        { action: 'cancel', outcome: 'cancelled' },
      ].map((report) => ({ ...report, durationMs: expect.any(Number) })),
    );
  });
});

async function flows(store: RecordStore): Promise<unknown[]> {
  return await store.list({ prefix: 'otp:flow:', limit: 10 });
}

async function atOnce<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

function tally(checked: readonly CheckedOtp[]): Record<string, number> {
  const groups = Object.groupBy(checked, (result) => (result.ok ? 'accepted' : result.reason));
  return Object.fromEntries(Object.entries(groups).map(([name, members]) => [name, members.length]));
}

/** How a text could be stored without being seen at once. */
function encoded(text: string): string[] {
  const bytes = Buffer.from(text);
  return [bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}
