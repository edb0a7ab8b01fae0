import type * as Crypto from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { Clock, notCode, otpOn, phone, purpose } from './support.ts';

/** How often each function that takes time was called. */
const work = vi.hoisted(() => ({ hmac: 0, cipher: 0, comparisons: 0 }));

vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof Crypto>();
  return {
    ...crypto,
    createHmac: (...args: Parameters<typeof crypto.createHmac>) => {
      work.hmac++;
      return crypto.createHmac(...args);
    },
    timingSafeEqual: (...args: Parameters<typeof crypto.timingSafeEqual>) => {
      work.comparisons++;
      return crypto.timingSafeEqual(...args);
    },
    createCipheriv: (...args: [string, Uint8Array, Uint8Array]) => {
      work.cipher++;
      return crypto.createCipheriv(...args);
    },
    createDecipheriv: (...args: [string, Uint8Array, Uint8Array]) => {
      work.cipher++;
      return crypto.createDecipheriv(...args);
    },
  };
});

const [older, newer] = ['older-secret-0123456789abcdef0123456789', 'newer-secret-0123456789abcdef0123456789'];

/** Ids of which no code can be right, and how they came to be so. */
const cases = {
  unknown: async () => 'A'.repeat(22),
  malformed: async () => "'; DROP TABLE--",
  expired: async ({ otp, clock }) => {
    const { id, expiresAt } = await otp.issue({ to_phone: phone, purpose });
    // The record is still there.
    clock.at = expiresAt;
    return id;
  },
  used: async ({ otp, messenger }) => {
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    return id;
  },
  exhausted: async ({ otp, messenger }) => {
    const { id } = await otp.issue({ to_phone: phone, purpose });
    for (let guess = 0; guess < 5; guess++) await otp.check(id, notCode(messenger.lastCode), { purpose });
    return id;
  },
  cancelled: async ({ otp }) => {
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.cancel(id);
    return id;
  },
  'for another purpose': async ({ otp }) => (await otp.issue({ to_phone: phone, purpose: 'withdraw' })).id,
  'for another subject': async ({ otp }) =>
    (await otp.issue({ to_phone: phone, purpose, subject: 'payment-1' })).id,
  'made with a secret that was dropped': async ({ store, clock }) => {
    const { otp } = otpOn(store, clock, { secrets: ['dropped-secret-0123456789abcdef012345'] });
    return (await otp.issue({ to_phone: phone, purpose })).id;
  },
} satisfies Record<string, (context: ReturnType<typeof setUp>) => Promise<string>>;

describe.each(Object.entries(cases))('an id that is %s', (_, makeId) => {
  it('is answered as any other, after the same work', async () => {
    const context = setUp();
    const id = await makeId(context);
    const begun = { ...work, transactions: context.transactions.length };
    const code = context.messenger.lastCode || '123456';
    const checked = await context.otp.check(id, code, { purpose });
    expect(checked).toEqual({ ok: false, reason: 'not_valid', attemptsLeft: 0 });
    expect({
      hmac: work.hmac - begun.hmac,
      cipher: work.cipher - begun.cipher,
      // How many keys each transaction names: the id; then id and phone number.
      transactions: context.transactions.slice(begun.transactions),
    }).toEqual({ hmac: 3, cipher: 1, transactions: [1, 2] });
  });
});

it('a code that is compared takes the same work too', async () => {
  const context = setUp();
  const { id } = await context.otp.issue({ to_phone: phone, purpose });
  const begun = { ...work, transactions: context.transactions.length };
  expect(await context.otp.check(id, notCode(context.messenger.lastCode), { purpose })).toMatchObject({
    reason: 'wrong',
  });
  expect([work.hmac - begun.hmac, work.cipher - begun.cipher]).toEqual([3, 1]);
  expect(context.transactions.slice(begun.transactions)).toEqual([1, 2]);
});

it('a code is compared with each valid one in constant time, whichever is right', async () => {
  for (const right of ['first', 'second', 'none']) {
    const { otp, messenger } = setUp();
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await otp.resend(id);
    const [first = '', second = ''] = messenger.codes;
    const typed = { first, second, none: notCode(first, second) }[right] ?? '';
    work.comparisons = 0;
    expect((await otp.check(id, typed, { purpose })).ok).toBe(right !== 'none');
    expect(work.comparisons).toBe(2);
  }
});

function setUp() {
  const clock = new Clock();
  const memory = memoryStore({ now: clock.now });
  /** The number of keys of each transaction. */
  const transactions: number[] = [];
  const store: RecordStore = {
    ...memory,
    transact(keys, change) {
      transactions.push(keys.length);
      return memory.transact(keys, change);
    },
  };
  return {
    clock,
    store,
    transactions,
    ...otpOn(store, clock, {
      secrets: [newer, older],
      cooldownMs: 0,
    }),
  };
}
