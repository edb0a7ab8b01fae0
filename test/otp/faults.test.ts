import { describe, expect, it } from 'vitest';
import { isOtpError, StoreError } from '../../src/errors/errors.ts';
import type { OtpMessenger } from '../../src/otp/otp-messenger.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected } from '../support/refusal.ts';
import { Clock, memoryOtp, notCode, notSent, otpOn, phone, purpose, unknown } from './support.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const noCoolDown = { coolDownMs: [] };

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

/** A process is killed at a step: nothing after it runs, and another process goes on with the store. */
describe('a process that is killed', () => {
  /** Every place between two steps: before and after each transaction, and before and after the message leaves. */
  function killableAt(step: number, store: RecordStore) {
    let steps = 0;
    const pass = async () => {
      steps++;
      if (steps === step) await new Promise(() => {});
    };
    const killable: RecordStore = {
      ...store,
      async transact(keys, change) {
        await pass();
        const result = await store.transact(keys, change);
        await pass();
        return result;
      },
    };
    return { store: killable, pass, isReached: () => steps >= step };
  }

  it.each(['sent', 'not-sent', 'unknown'] as const)(
    'anywhere while it sends (%s) has sent no code that was not counted, and locks nobody out',
    async (outcome) => {
      let step = 1;
      for (; ; step++) {
        const clock = new Clock();
        const store = memoryStore({ now: clock.now });
        const killed = killableAt(step, store);
        const { otp, messenger } = otpOn(killed.store, clock);
        messenger.before = killed.pass;
        if (outcome !== 'sent') messenger.failures.push(outcome === 'unknown' ? unknown() : notSent());
        const issuing = otp.issue({ to_phone: phone, purpose }).catch(() => {});
        await settled(issuing, killed.isReached);
        const isDone = !killed.isReached();

        const counted = JSON.stringify(await store.list({ prefix: 'otp:phone:', limit: 10 })).includes(
          '"streak":1',
        );
        if (messenger.messages.length > 0) expect(counted).toBe(true);
        // Whatever was left behind, after the cool-down there is a code again.
        clock.at += 30_000;
        const next = otpOn(store, clock);
        const { id } = await next.otp.issue({ to_phone: phone, purpose });
        expect(await next.otp.check(id, next.messenger.lastCode, { purpose })).toMatchObject({ ok: true });
        if (isDone) break;
      }
      // One transaction and one message; what was not sent takes another transaction.
      expect(step).toBe(outcome === 'not-sent' ? 6 : 4);
    },
  );

  it.each(['right', 'wrong'] as const)(
    'anywhere while it checks a %s code leaves one that is accepted once or never',
    async (kind) => {
      let step = 1;
      for (; ; step++) {
        const { clock, store, issued, code } = await issuedCode();
        const killed = killableAt(step, store);
        const { otp } = otpOn(killed.store, clock);
        let answered = 0;
        const checking = otp
          .check(issued.id, kind === 'right' ? code : notCode(code), { purpose })
          .then(({ ok }) => {
            answered += ok ? 1 : 0;
          });
        await settled(checking, killed.isReached);
        const isDone = !killed.isReached();
        const { ok } = await otpOn(store, clock).otp.check(issued.id, code, { purpose });
        expect(answered + (ok ? 1 : 0)).toBeLessThanOrEqual(1);
        // Until the transaction that uses it up is done, the code is good.
        if (kind === 'wrong' || step <= 3) expect(ok).toBe(true);
        if (isDone) break;
      }
      expect(step).toBe(kind === 'right' ? 7 : 5);
    },
  );

  /** Waits until a call has ended, or hangs at its step. */
  async function settled(call: Promise<unknown>, isReached: () => boolean): Promise<void> {
    let isOver = false;
    void call.then(() => {
      isOver = true;
    });
    while (!isOver && !isReached()) await nextTurn();
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
    const { otp, clock } = memoryOtp({ limits: { phone: { max: 2, windowMs: 60 * minute } } });
    await otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7' });
    clock.at += 30_000;
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
