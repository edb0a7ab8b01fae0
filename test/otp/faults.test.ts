import { describe, expect, it } from 'vitest';
import { isOtpError, StoreError } from '../../src/errors/errors.ts';
import type { OtpMessenger } from '../../src/otp/otp-messenger.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { rejected } from '../support/refusal.ts';
import { Clock, memoryOtp, notCode, notSent, otpOn, phone, purpose } from './support.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const noCoolDown = { cooldownMs: 0 };

/** A store that fails at one of its transactions, from 1: before it does anything, or after it has committed. */
function failingStore(store: RecordStore, failing: { at: number; when: 'before' | 'after' }) {
  let count = 0;
  const transact: RecordStore['transact'] = async (keys, change) => {
    count++;
    const fails = count === failing.at;
    if (fails && failing.when === 'before') throw new StoreError('store_failed', 'down');
    const result = await store.transact(keys, change);
    if (fails) throw new StoreError('store_failed', 'down');
    return result;
  };
  return { store: { ...store, transact }, transactions: () => count };
}

describe('a code', () => {
  it('is in the store before its message leaves', async () => {
    const { otp, messenger, store } = memoryOtp();
    const stored: number[] = [];
    messenger.before = async () => {
      stored.push((await store.list({ prefix: 'otp:flow:', limit: 10 })).length);
    };
    await otp.issue({ to_phone: phone, purpose });
    expect(stored).toEqual([1]);
  });

  it('that expired before its message could leave is not sent', async () => {
    const clock = new Clock();
    const store = memoryStore({ now: clock.now });
    let suspendedMs = 11 * minute;
    const suspended: RecordStore = {
      ...store,
      async transact(keys, change) {
        const result = await store.transact(keys, change);
        clock.at += suspendedMs;
        suspendedMs = 0;
        return result;
      },
    };
    const { otp, messenger } = otpOn(suspended, clock, { ...noCoolDown, lifetimeMs: 10 * minute });
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
      code: 'not_sent',
      message: expect.stringContaining('The code expired before it could leave'),
    });
    expect(messenger.messages).toEqual([]);
    await otp.issue({ to_phone: phone, purpose });
    expect(messenger.messages).toHaveLength(1);
  });

  it('tells the device how long its message may still leave', async () => {
    const clock = new Clock();
    let left: number[] = [];
    const messenger: OtpMessenger = {
      async sendMessage(_, options) {
        left = [options?.leftMs?.() ?? 0];
        clock.at += 10 * minute;
        left.push(options?.leftMs?.() ?? 0);
      },
    };
    const options = { messenger, lifetimeMs: 10 * minute };
    await otpOn(memoryStore({ now: clock.now }), clock, options).otp.issue({ to_phone: phone, purpose });
    expect(left).toEqual([10 * minute, 0]);
  });
});

describe.each(['before', 'after'] as const)('a store that fails %s it has done its work', (when) => {
  it('at the first transaction of issue lets no message leave', async () => {
    const { otp, messenger } = downAt(1);
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({
      code: 'store_unavailable',
      cause: { code: 'store_failed' },
    });
    expect(messenger.messages).toEqual([]);
  });

  it('when what was not sent is given back: the error still says that it was not sent', async () => {
    const { otp, messenger } = downAt(2);
    messenger.failures.push(notSent());
    expect(await rejected(otp.issue({ to_phone: phone, purpose }))).toMatchObject({ code: 'not_sent' });
  });

  it.each([1, 2])('at transaction %i of resend lets no message leave', async (at) => {
    const { clock, store, issued } = await issuedCode();
    const { otp, messenger } = otpOn(failingStore(store, { at, when }).store, clock, noCoolDown);
    expect(await rejected(otp.resend(issued.id))).toMatchObject({ code: 'store_unavailable' });
    expect(messenger.messages).toEqual([]);
  });

  it.each([1, 2])('at transaction %i of check accepts nothing', async (at) => {
    const { clock, store, issued, code } = await issuedCode();
    const { otp } = otpOn(failingStore(store, { at, when }).store, clock);
    const error = await rejected(otp.check(issued.id, code, { purpose }));
    expect(error).toMatchObject({ code: 'store_unavailable' });
    if (at === 2) expect(error).toHaveProperty('message', expect.stringContaining('may be used up'));
    // The code is still good, unless it had been used up: nobody was told so, and it is never accepted twice.
    const isUsed = at === 2 && when === 'after';
    expect((await otpOn(store, clock).otp.check(issued.id, code, { purpose })).ok).toBe(!isUsed);
  });

  it('when a network is credited does not take back the success', async () => {
    const { clock, store, issued, code } = await issuedCode();
    const { otp } = otpOn(failingStore(store, { at: 3, when }).store, clock);
    expect(await otp.check(issued.id, code, { purpose })).toMatchObject({ ok: true });
  });

  it('counts the attempt or tells nothing, so that failures are no free guesses', async () => {
    const { clock, store, issued, code } = await issuedCode();
    for (let guess = 0; guess < 6; guess++) {
      const { otp } = otpOn(failingStore(store, { at: 2, when }).store, clock);
      expect(isOtpError(await rejected(otp.check(issued.id, notCode(code), { purpose })))).toBe(true);
    }
    const checked = await otpOn(store, clock).otp.check(issued.id, code, { purpose });
    expect(checked.ok).toBe(when === 'before');
  });

  function downAt(at: number) {
    const clock = new Clock();
    return otpOn(failingStore(memoryStore({ now: clock.now }), { at, when }).store, clock);
  }
});

describe('a clock that is set back', () => {
  it('by an hour makes no code live longer: an issued one is not valid, until the clock is right', async () => {
    const { clock, store, issued, code } = await issuedCode();
    const { otp } = otpOn(store, clock);
    clock.at -= 60 * minute;
    expect(await otp.check(issued.id, code, { purpose })).toMatchObject({ reason: 'not_valid' });
    // The clocks of several machines differ by seconds.
    clock.at += 60 * minute - 5_000;
    expect(await otp.check(issued.id, code, { purpose })).toMatchObject({ ok: true });
  });

  it('by a year locks nobody out for longer than the limits say, and frees nobody of them', async () => {
    const { otp, clock } = memoryOtp({ limits: { messagesPerPhone: { max: 2, windowMs: 60 * minute } } });
    await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    clock.at += 60_000;
    await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    clock.at -= 365 * day;
    const again = () => otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    expect(await rejected(again())).toMatchObject({ code: 'limit_reached', retryAfterMs: 60 * minute });
    clock.at += 30 * minute;
    expect(await rejected(again())).toMatchObject({ code: 'limit_reached', retryAfterMs: 30 * minute });
    clock.at += 30 * minute;
    await again();
  });
});

/** An issued code, sent for an address. */
async function issuedCode() {
  const { otp, messenger, clock, store } = memoryOtp(noCoolDown);
  const issued = await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
  return { clock, store, issued, code: messenger.lastCode };
}
