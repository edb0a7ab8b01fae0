import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once as nextEvent } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import { effectKey } from '../../src/events/effect-key.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { type OnceOptions, once, settleOnce } from '../../src/store/once.ts';
import { postgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { scratchFolder } from '../support/scratch.ts';
import { storeKinds } from './store-kinds.ts';

const key = 'A-1/event.buy.credited.crypto';
const failure = new Error('The mail server answered 451.');

/** An effect that counts its runs. */
function makeEffect() {
  const effect = { runs: 0, run: async () => ({ mail: ++effect.runs }) };
  return effect;
}

function fails(): never {
  throw failure;
}

for (const { name, open } of storeKinds()) {
  describe(`once, over ${name}`, () => {
    const clock = { at: 1_700_000_000_000 };
    const now = () => clock.at;
    const options = { now, leaseMs: 60_000 };

    it('runs an effect for the first call, and returns its result to every repetition', async () => {
      const store = open(now);
      const { run } = makeEffect();
      expect(await once(store, key, run, options)).toEqual({ mail: 1 });
      expect(await once(store, key, run, options)).toEqual({ mail: 1 });
      expect(await once(store, 'A-2', run, options)).toEqual({ mail: 2 });
    });

    it('runs it once for calls at the same time, and tells the others how long to wait', async () => {
      const store = open(now);
      const effect = makeEffect();
      const calls = Array.from({ length: 8 }, () => once(store, key, effect.run, options));
      const ends = await Promise.allSettled(calls);
      expect(effect.runs).toBe(1);
      for (const end of ends) {
        if (end.status === 'rejected')
          expect(end.reason).toMatchObject({ code: 'in_progress', retryAfterMs: 60_000 });
        else expect(end.value).toEqual({ mail: 1 });
      }
      expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    });

    it('keeps neither the key nor the fingerprint in the store', async () => {
      const store = open(now);
      await once(store, key, makeEffect().run, { ...options, fingerprint: '0xabc' });
      const text = JSON.stringify(await store.list({ prefix: '', limit: 100 }));
      expect(text).toContain('"mail":1');
      expect(text).not.toMatch(/A-1|0xabc/);
    });

    it('does not repeat a run that threw, until a person says that it did not happen', async () => {
      const store = open(now);
      const effect = makeEffect();
      await expect(once(store, key, fails, options)).rejects.toBe(failure);
      await expect(once(store, key, effect.run, options)).rejects.toMatchObject({ code: 'unknown' });
      expect(effect.runs).toBe(0);
      await settleOnce(store, key, 'repeat', { now });
      expect(await once(store, key, effect.run, options)).toEqual({ mail: 1 });
    });

    it('returns the result that a person has given', async () => {
      const store = open(now);
      const effect = makeEffect();
      await expect(once(store, key, fails, options)).rejects.toBe(failure);
      await settleOnce(store, key, { mail: 77 }, { now });
      expect(await once(store, key, effect.run, options)).toEqual({ mail: 77 });
      expect(effect.runs).toBe(0);
      await expect(settleOnce(store, key, 'repeat', { now })).rejects.toMatchObject({
        code: 'already_settled',
      });
    });

    it('repeats what the outcome says was not sent or was refused', async () => {
      const store = open(now);
      for (const outcome of ['not-sent', 'refused'] as const) {
        await expect(once(store, key, fails, { ...options, outcomeOf: () => outcome })).rejects.toBe(failure);
      }
      expect(await once(store, key, makeEffect().run, options)).toEqual({ mail: 1 });
    });

    it('calls a run that never ended in progress while its lease runs, and unknown after that', async () => {
      const store = open(now);
      const effect = makeEffect();
      void once(store, key, () => new Promise<null>(() => {}), options);
      await until(store);
      clock.at += 59_999;
      await expect(once(store, key, effect.run, options)).rejects.toMatchObject({
        code: 'in_progress',
        retryAfterMs: 1,
      });
      await expect(settleOnce(store, key, 'repeat', { now })).rejects.toMatchObject({ code: 'in_progress' });
      clock.at += 1;
      await expect(once(store, key, effect.run, options)).rejects.toMatchObject({ code: 'unknown' });
      expect(effect.runs).toBe(0);
      expect(await once(store, key, effect.run, { ...options, repeatUnknown: true })).toEqual({ mail: 1 });
    });

    it('keeps the result of a run that outlived its lease, also for the run that began after it', async () => {
      const store = open(now);
      const { promise, resolve } = Promise.withResolvers<string>();
      const slow = once(store, key, () => promise, options);
      await until(store);
      clock.at += 60_000;
      const second = once(
        store,
        key,
        async () => {
          resolve('first');
          await slow;
          return 'second';
        },
        { ...options, repeatUnknown: true },
      );
      expect([await slow, await second]).toEqual(['first', 'first']);
      expect(await once(store, key, () => 'third', options)).toBe('first');
    });

    it('refuses a repetition with another fingerprint, whatever the state', async () => {
      const store = open(now);
      const effect = makeEffect();
      const input = { ...options, fingerprint: '0xabc' };
      await expect(once(store, key, fails, input)).rejects.toBe(failure);
      const other = { ...options, fingerprint: '0xdef', repeatUnknown: true };
      await expect(once(store, key, effect.run, other)).rejects.toMatchObject({ code: 'different_input' });
      await settleOnce(store, key, 'done', { now });
      await expect(once(store, key, effect.run, other)).rejects.toMatchObject({ code: 'different_input' });
      expect(await once<unknown & string>(store, key, () => 'again', input)).toBe('done');
      expect(effect.runs).toBe(0);
    });

    it('keeps the result of another run when an earlier one, whose lease is over, fails', async () => {
      const store = open(now);
      const { promise, reject } = Promise.withResolvers<string>();
      const slow = once(store, key, () => promise, options);
      await until(store);
      clock.at += 60_000;
      const second = await once(store, key, () => 'second', { ...options, repeatUnknown: true });
      reject(failure);
      await expect(slow).rejects.toBe(failure);
      expect(second).toBe('second');
      expect(await once(store, key, () => 'third', options)).toBe('second');
    });

    it('keeps the result of a run that ends after a person has said to repeat it', async () => {
      const store = open(now);
      const { promise, resolve } = Promise.withResolvers<string>();
      const slow = once(store, key, () => promise, options);
      await until(store);
      clock.at += 60_000;
      await settleOnce(store, key, 'repeat', { now });
      resolve('late');
      expect(await slow).toBe('late');
      expect(await once(store, key, () => 'second', options)).toBe('late');
    });

    it('compares fingerprints only where both calls have one', async () => {
      const store = open(now);
      const input = { ...options, fingerprint: '0xabc' };
      await once(store, 'A-1', () => 1, input);
      expect(await once(store, 'A-1', () => 2, options)).toBe(1);
      await once(store, 'A-2', () => 1, options);
      expect(await once(store, 'A-2', () => 2, input)).toBe(1);
    });

    it('forgets a result after rememberMs', async () => {
      const store = open(now);
      const effect = makeEffect();
      const briefly = { ...options, rememberMs: 1_000 };
      expect(await once(store, key, effect.run, briefly)).toEqual({ mail: 1 });
      clock.at += 999;
      expect(await once(store, key, effect.run, briefly)).toEqual({ mail: 1 });
      clock.at += 1;
      expect(await once(store, key, effect.run, briefly)).toEqual({ mail: 2 });
    });

    /** Once the lease is written. */
    async function until(store: RecordStore): Promise<void> {
      while ((await store.list({ prefix: 'once/', limit: 1 })).length === 0) await nextTurn();
    }
  });
}

describe('once', () => {
  it('takes an effect for unknown when outcomeOf itself throws', async () => {
    const store = memoryStore();
    await expect(once(store, key, fails, { outcomeOf: fails })).rejects.toBe(failure);
    await expect(once(store, key, () => 1)).rejects.toMatchObject({ code: 'unknown' });
  });

  it('returns the result that a person has given before any run', async () => {
    const store = memoryStore();
    await settleOnce(store, key, 'by hand');
    expect(await once<string>(store, key, () => 'run')).toBe('by hand');
  });

  it('writes the states and the key of an effect as other versions read them', async () => {
    const store = memoryStore();
    const digest = createHash('sha256').update(key).digest('hex');
    const state = async () => {
      const [record] = await store.list({ prefix: '', limit: 2 });
      expect(record?.key).toBe(`once/${digest}`);
      return record?.value;
    };
    const fail = async () => {
      expect(await state()).toMatchObject({ state: 'running', lease: { token: expect.any(String) } });
      return fails();
    };
    await expect(once(store, key, fail)).rejects.toBe(failure);
    expect(await state()).toEqual({ state: 'unknown' });
    await once(store, key, () => 1, { repeatUnknown: true });
    expect(await state()).toEqual({ state: 'done', result: 1 });
  });

  it('does nothing when the store fails before it begins, and leaves no lease behind', async () => {
    const store = memoryStore();
    const effect = makeEffect();
    const lost = new StoreError('store_failed', 'It may have been written.');
    let calls = 0;
    const unsure: RecordStore = {
      ...store,
      async transact(keys, change) {
        const result = await store.transact(keys, change);
        if (++calls === 1) throw lost;
        return result;
      },
    };
    await expect(once(unsure, key, effect.run)).rejects.toBe(lost);
    expect(await once(store, key, effect.run)).toEqual({ mail: 1 });
  });

  it.skipIf(process.platform !== 'linux')('is unknown at once when its process was killed', async () => {
    const path = join(scratchFolder(), 'once.sqlite');
    const source = (file: string) => JSON.stringify(new URL(`../../src/store/${file}`, import.meta.url).href);
    const program = `
      import { once } from ${source('once.ts')};
      import { sqliteStore } from ${source('sqlite/sqlite-store.ts')};
      setInterval(() => {}, 1_000_000);
      await once(sqliteStore({ path: ${JSON.stringify(path)} }), ${JSON.stringify(key)}, () => {
        process.stdout.write('begun');
        return new Promise(() => {});
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    await nextEvent(child.stdout, 'data');
    const store = sqliteStore({ path });
    const { run } = makeEffect();
    await expect(once(store, key, run)).rejects.toMatchObject({ code: 'in_progress' });
    child.kill('SIGKILL');
    await nextEvent(child, 'exit');
    await expect(once(store, key, run)).rejects.toMatchObject({ code: 'unknown' });
    await store.close();
  });

  it('takes a result that was not written for unknown once the lease has ended', async () => {
    const store = memoryStore();
    const effect = makeEffect();
    const clock = { at: 0 };
    const options: OnceOptions = { now: () => clock.at, leaseMs: 10 };
    const broken: RecordStore = {
      ...store,
      transact: (keys, change) =>
        effect.runs === 0
          ? store.transact(keys, change)
          : Promise.reject(new StoreError('store_failed', 'No.')),
    };
    await expect(once(broken, key, effect.run, options)).rejects.toMatchObject({ code: 'store_failed' });
    clock.at = 10;
    await expect(once(store, key, effect.run, options)).rejects.toMatchObject({ code: 'unknown' });
    expect(effect.runs).toBe(1);
  });

  it('refuses an empty key, a missing function, and options that do not exist', async () => {
    const store = memoryStore();
    const refused = { code: 'invalid_option' };
    const unnamed = effectKey({ event_name: 'event.buy.third_party_error' });
    // @ts-expect-error: effectKey returns undefined for an event without an order.
    await expect(once(store, unnamed, () => 1)).rejects.toMatchObject(refused);
    await expect(once(store, '', () => 1)).rejects.toMatchObject(refused);
    // @ts-expect-error: the effect is missing.
    await expect(once(store, key)).rejects.toThrow('needs a function');
    await expect(once(store, key, () => 1, { leaseMs: 0 })).rejects.toMatchObject(refused);
    // @ts-expect-error: a date is no JSON data.
    await expect(once(store, key, () => new Date())).rejects.toMatchObject(refused);
    // @ts-expect-error: leaseMs is of once.
    await expect(settleOnce(store, key, 'repeat', { leaseMs: 1_000 })).rejects.toMatchObject(refused);
  });

  it('refuses a store in a transaction of the user, whose rollback would forget the effect', async () => {
    const run = vi.fn();
    const client = { query: async () => {}, getTransactionStatus: () => 'T' };
    await expect(once(postgresStore({ client }), 'A-1', run)).rejects.toThrow('transactions');
    expect(run).not.toHaveBeenCalled();
  });

  it('keeps keys and fingerprints apart that differ in half of a surrogate pair', async () => {
    const store = memoryStore();
    const keys = ['A-\ud800', 'A-\ud801', 'A-\udc00', 'A-\ufffd', 'A-\u{1f600}'];
    const results = [];
    for (const [index, key] of [...keys, ...keys].entries())
      results.push(await once(store, key, () => index));
    expect(results).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    await once(store, 'B-1', () => 1, { fingerprint: '\ud800' });
    await expect(once(store, 'B-1', () => 2, { fingerprint: '\ud801' })).rejects.toMatchObject({
      code: 'different_input',
    });
  });
});
