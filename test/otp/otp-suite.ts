import { describe, expect, it } from 'vitest';
import type { CheckedOtp } from '../../src/otp/check-code.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { rejected } from '../support/refusal.ts';
import { times } from '../support/repeat.ts';
import {
  Clock,
  notCode,
  notSent,
  numberRefused,
  otpOn,
  phone,
  purpose,
  secret,
  storedText,
  unknown,
} from './support.ts';

/** Opens an empty store that uses this clock; the suite closes it. */
export type MakeStore = (clock: Clock) => RecordStore | Promise<RecordStore>;

const notValid = { ok: false, reason: 'not_valid', attemptsLeft: 0 };
const noCoolDown = { coolDownMs: [] };

/** Checks of one code come one after another, each in two transactions. */
const many = times(100, 1000);
/** On machines of any kind. */
const timeoutMs = 120_000;

/** What one-time codes promise, on one kind of store. */
export function describeOtp(name: string, makeStore: MakeStore): void {
  const test = (what: string, run: (context: { store: RecordStore; clock: Clock }) => Promise<void>) =>
    it(what, { timeout: timeoutMs }, async () => {
      const clock = new Clock();
      const store = await makeStore(clock);
      try {
        await run({ store, clock });
      } finally {
        await store.close();
      }
    });

  describe(`one-time codes on ${name}`, () => {
    test('a code is accepted once, by any process with the store', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { otp: another } = otpOn(store, clock);
      const issued = await otp.issue({ to_phone: '+234 801 234 5678', purpose });
      expect(issued).toEqual({
        id: expect.stringMatching(/^[\w-]{22}$/),
        expiresAt: clock.at + 600_000,
        resendAt: clock.at + 30_000,
        delivery: 'sent',
      });
      expect(messenger.messages).toEqual([
        {
          to_phone: phone,
          message: expect.stringMatching(/^\d{6} is your code\. It is valid for 10 minutes/),
        },
      ]);
      expect(await another.check(issued.id, messenger.lastCode, { purpose })).toEqual({
        ok: true,
        to_phone: phone,
      });
      expect(await otp.check(issued.id, messenger.lastCode, { purpose })).toEqual(notValid);
    });

    test('a code is read as people type it', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, noCoolDown);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const arabic = messenger.lastCode.replace(/\d/g, (digit) =>
        String.fromCodePoint(0x660 + Number(digit)),
      );
      const typed = ` ${arabic.slice(0, 3)} ${arabic.slice(3)}`;
      expect(await otp.check(id, typed, { purpose })).toMatchObject({ ok: true });
      const next = await otp.issue({ to_phone: phone, purpose });
      const pasted = messenger.messages.at(-1)?.message ?? '';
      expect(await otp.check(next.id, pasted, { purpose })).toMatchObject({ ok: true });
    });

    test('a text without a code costs no attempt', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, { limits: { failuresPerPhone: 1 } });
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const { lastCode } = messenger;
      for (const typed of ['', ' \n', 'yes', lastCode.slice(1), `${lastCode}0`, lastCode.repeat(1_000_000)])
        expect(await otp.check(id, typed, { purpose })).toEqual({
          ok: false,
          reason: 'wrong',
          attemptsLeft: 5,
        });
      expect(await otp.check(id, notCode(lastCode), { purpose })).toMatchObject({ attemptsLeft: 4 });
      expect(await otp.check(id, '', { purpose })).toMatchObject({ attemptsLeft: 4 });
      expect(await otp.check(id, lastCode, { purpose })).toMatchObject({ ok: true });
      expect(await otp.check(id, '', { purpose })).toEqual(notValid);
    });

    test('wrong codes use up the attempts; the last one and then the right one are not valid', async ({
      store,
      clock,
    }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const wrong = notCode(messenger.lastCode);
      for (const attemptsLeft of [4, 3, 2, 1]) {
        expect(await otp.check(id, wrong, { purpose })).toEqual({ ok: false, reason: 'wrong', attemptsLeft });
      }
      expect(await otp.check(id, wrong, { purpose })).toEqual(notValid);
      expect(await otp.check(id, messenger.lastCode, { purpose })).toEqual(notValid);
      expect(await rejected(otp.resend(id))).toMatchObject({ code: 'not_allowed' });
    });

    test('a message that comes late is still good after the next one was sent', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      clock.at += 30_000;
      await otp.resend(id);
      const [first = '', second = ''] = messenger.codes;
      expect(first).not.toBe(second);
      expect(await otp.check(id, first, { purpose })).toMatchObject({ ok: true });
      expect(await otp.check(id, second, { purpose })).toEqual(notValid);
    });

    test('sending again resets no count of attempts, and each code has its own time', async ({
      store,
      clock,
    }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const wrong = notCode(messenger.lastCode);
      for (let guess = 0; guess < 3; guess++) await otp.check(id, wrong, { purpose });
      clock.at += 500_000;
      const again = await otp.resend(id);
      expect(again).toMatchObject({ id, expiresAt: clock.at + 600_000, delivery: 'sent' });
      const [first = '', second = ''] = messenger.codes;
      clock.at += 100_000;
      // The first code has expired: typed in, it is one more wrong guess.
      expect(await otp.check(id, first, { purpose })).toEqual({
        ok: false,
        reason: 'wrong',
        attemptsLeft: 1,
      });
      expect(await otp.check(id, second, { purpose })).toMatchObject({ ok: true });
    });

    test('a code is good until it expires, and not a moment longer', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, noCoolDown);
      const one = await otp.issue({ to_phone: phone, purpose });
      const other = await otp.issue({ to_phone: phone, purpose });
      const [first = '', second = ''] = messenger.codes;
      clock.at = one.expiresAt - 1;
      expect(await otp.check(one.id, first, { purpose })).toMatchObject({ ok: true });
      clock.at = other.expiresAt;
      expect(await otp.check(other.id, second, { purpose })).toEqual(notValid);
      expect(await rejected(otp.resend(other.id))).toMatchObject({ code: 'not_allowed' });
    });

    test('a code is for one purpose and one subject', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose: 'withdraw', subject: 'payment-1' });
      for (const [otherPurpose, subject] of [
        ['sign-in', 'payment-1'],
        ['withdraw', 'payment-2'],
        ['withdraw', undefined],
      ] as const) {
        const checked = await otp.check(id, messenger.lastCode, { purpose: otherPurpose, subject });
        expect(checked).toEqual(notValid);
      }
      const right = { purpose: 'withdraw', subject: 'payment-1' };
      expect(await otp.check(id, messenger.lastCode, right)).toMatchObject({ ok: true });
    });

    test('a code of one id is wrong for another id of the same phone number', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, noCoolDown);
      const one = await otp.issue({ to_phone: phone, purpose });
      const other = await otp.issue({ to_phone: phone, purpose });
      const [first = '', second = ''] = messenger.codes;
      if (first !== second) {
        expect(await otp.check(one.id, second, { purpose })).toMatchObject({ reason: 'wrong' });
        expect(await otp.check(other.id, first, { purpose })).toMatchObject({ reason: 'wrong' });
      }
      expect(await otp.check(one.id, first, { purpose })).toMatchObject({ ok: true });
      expect(await otp.check(other.id, second, { purpose })).toMatchObject({ ok: true });
    });

    test('a cancelled code is not valid', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      await otp.cancel(id);
      await otp.cancel(id);
      expect(await otp.check(id, messenger.lastCode, { purpose })).toEqual(notValid);
    });

    test('of many wrong codes at once, no more than maxAttempts are compared', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const wrong = notCode(messenger.lastCode);
      const checked = await atOnce(many, () => otp.check(id, wrong, { purpose }));
      expect(tally(checked)).toEqual({ wrong: 4, not_valid: many - 4 });
      const left = checked.flatMap((one) => (one.ok || one.reason !== 'wrong' ? [] : [one.attemptsLeft]));
      expect(left.sort()).toEqual([1, 2, 3, 4]);
    });

    test('the right code many times at once is accepted once', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      const checked = await atOnce(many, () => otp.check(id, messenger.lastCode, { purpose }));
      expect(tally(checked)).toEqual({ accepted: 1, not_valid: many - 1 });
    });

    test('the right code among wrong ones at once is accepted at most once, and counts', async ({
      store,
      clock,
    }) => {
      for (let round = 0; round < times(10, 20); round++) {
        clock.at += 3_600_000;
        const { otp, messenger } = otpOn(store, clock);
        const { id } = await otp.issue({ to_phone: phone, purpose });
        const [right, wrong] = [messenger.lastCode, notCode(messenger.lastCode)];
        const place = round % 10;
        const checked = await atOnce(20, (index) =>
          otp.check(id, index === place ? right : wrong, { purpose }),
        );
        const { accepted = 0, wrong: compared = 0 } = tally(checked);
        expect(accepted).toBeLessThanOrEqual(1);
        expect(accepted + compared).toBeLessThanOrEqual(5);
        // The changes of a key are made in the order of the calls: it comes in time, or too late.
        expect(accepted).toBe(place < 5 ? 1 : 0);
      }
    });

    test('of 50 codes at once for a phone number, the limit lets 10 through', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, noCoolDown);
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => otp.issue({ to_phone: phone, purpose })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      expect(messenger.messages).toHaveLength(10);
      const reasons = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(reasons.every(({ code, limit }) => code === 'limit_reached' && limit === 'phone')).toBe(true);
    });

    test('of 20 messages at once, the cool-down lets one through', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose });
      clock.at += 30_000;
      const again = Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? otp.resend(id) : otp.issue({ to_phone: phone, purpose }),
      );
      const results = await Promise.allSettled(again);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(messenger.messages).toHaveLength(2);
    });

    test('what was not sent is not counted, and its code is not valid', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, { limits: { phone: { max: 2, windowMs: 3_600_000 } } });
      messenger.failures.push(notSent(), notSent(), notSent());
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'not_sent' });
      }
      expect(await flows(store)).toEqual([]);
      // Neither the limit nor the cool-down has begun.
      const { id } = await otp.issue({ to_phone: phone, purpose });
      clock.at += 30_000;
      messenger.failures.push(notSent());
      expect(await rejected(otp.resend(id))).toMatchObject({ code: 'not_sent' });
      // Nor the cool-down of the second message.
      await otp.resend(id);
      expect(messenger.messages).toHaveLength(2);
      expect(await otp.check(id, messenger.codes[0] ?? '', { purpose })).toMatchObject({ ok: true });
    });

    test('a code with an unknown outcome is valid, and starts the cool-down', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      messenger.failures.push(unknown());
      const issued = await otp.issue({ to_phone: phone, purpose });
      expect(issued.delivery).toBe('unknown');
      expect(await rejected(otp.resend(issued.id))).toMatchObject({
        code: 'cool_down',
        retryAfterMs: 30_000,
      });
      expect(await otp.check(issued.id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    });

    test('a number that the service refuses has no code, and stays counted', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      messenger.failures.push(numberRefused());
      expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'refused' });
      expect(await flows(store)).toEqual([]);
      expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'cool_down' });
    });

    test('a code that is sent again and refused leaves the earlier ones', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, { ...noCoolDown, maxSends: 2 });
      const { id } = await otp.issue({ to_phone: phone, purpose });
      messenger.failures.push(numberRefused());
      expect(await rejected(otp.resend(id))).toMatchObject({ code: 'refused' });
      // It was one of the two messages.
      expect(await rejected(otp.resend(id))).toMatchObject({ code: 'limit_reached', limit: 'maxSends' });
      expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    });

    test('after a new secret took over, a code that is sent again is good too', async ({ store, clock }) => {
      const [older, newer] = [secret, 'newer-secret-0123456789abcdef0123456789'];
      const { id } = await otpOn(store, clock, { ...noCoolDown, secrets: [older] }).otp.issue({
        to_phone: phone,
        purpose,
      });
      const { otp, messenger } = otpOn(store, clock, { ...noCoolDown, secrets: [newer, older] });
      await otp.resend(id);
      expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    });

    test('holds no phone number, code, id, purpose, subject, address or secret', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock, {
        coolDownMs: [],
      });
      const purposes = { purpose: 'purpose-xyz', subject: 'subject-xyz' };
      const { id } = await otp.issue({ to_phone: phone, ip: '198.51.100.7', ...purposes });
      await otp.resend(id, { ip: '2001:db8:1:2::3' });
      await otp.check(id, notCode(...(messenger.codes as [string, string])), {
        ip: '198.51.100.7',
        ...purposes,
      });
      const text = await storedText(store);
      expect(text.match(/otp:(?:flow|ip|phone)/g)?.length).toBeGreaterThanOrEqual(4);
      const written = [phone.slice(1), '8012345678', ...messenger.codes, id, 'purpose-xyz', 'subject-xyz'];
      for (const hidden of [...written, '198.51.100', '2001:db8', secret]) {
        for (const form of [hidden, ...encoded(hidden)]) expect(text).not.toContain(form);
      }
    });

    test('leaves nothing behind when all its times have passed', async ({ store, clock }) => {
      const { otp, messenger } = otpOn(store, clock);
      const { id } = await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
      await otp.check(id, notCode(messenger.lastCode), { purpose, ip: '198.51.100.7' });
      clock.at += 86_400_000;
      expect(await store.list({ prefix: '', limit: 10 })).toEqual([]);
    });

    test('a new secret takes over: codes that are out still check, limits go on', async ({
      store,
      clock,
    }) => {
      const [older, newer] = [
        'older-secret-0123456789abcdef0123456789',
        'newer-secret-0123456789abcdef0123456789',
      ];
      const limits = { phone: { max: 3, windowMs: 3_600_000 } };
      const before = otpOn(store, clock, { ...noCoolDown, limits, secrets: [older] });
      const { id } = await before.otp.issue({ to_phone: phone, purpose });
      const after = otpOn(store, clock, { ...noCoolDown, limits, secrets: [newer, older] });
      await after.otp.resend(id);
      await after.otp.issue({ to_phone: phone, purpose });
      expect(await rejected(after.otp.issue({ to_phone: phone, purpose }))).toMatchObject({
        limit: 'phone',
      });
      const wrong = notCode(before.messenger.lastCode, ...after.messenger.codes);
      expect(await after.otp.check(id, wrong, { purpose })).toMatchObject({
        reason: 'wrong',
        attemptsLeft: 4,
      });
      expect(await after.otp.check(id, before.messenger.lastCode, { purpose })).toMatchObject({ ok: true });

      clock.at += 3_600_000;
      const last = await before.otp.issue({ to_phone: phone, purpose });
      const { otp: without } = otpOn(store, clock, { secrets: [newer] });
      expect(await without.check(last.id, before.messenger.lastCode, { purpose })).toEqual(notValid);
      expect(await rejected(without.resend(last.id))).toMatchObject({ code: 'not_allowed' });
    });
  });
}

async function flows(store: RecordStore): Promise<unknown[]> {
  return await store.list({ prefix: 'otp:flow:', limit: 10 });
}

/** As many calls at the same time. */
async function atOnce<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  return await Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

function tally(checked: readonly CheckedOtp[]): Record<string, number> {
  const groups = Object.groupBy(checked, (one) => (one.ok ? 'accepted' : one.reason));
  return Object.fromEntries(Object.entries(groups).map(([name, members]) => [name, members.length]));
}

/** How a text could be stored without being seen at once. */
function encoded(text: string): string[] {
  const bytes = Buffer.from(text);
  return [bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}
