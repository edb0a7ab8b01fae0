import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createKeyRing, type KeyRingOptions } from '../../src/credentials/create-key-ring.ts';
import type { KeySets, LoadedKeys } from '../../src/credentials/key-ring.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { isKeyError, type KeyError } from '../../src/errors/errors.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected, thrownBy } from '../support/refusal.ts';
import { warningsDuring } from '../webhooks/warnings.ts';
import { deferred, generation } from './keys.ts';

/** A ring whose source, clock and failures a test decides. */
function ringOf(first: LoadedKeys | Error, options: Partial<KeyRingOptions> = {}) {
  const source = { keys: first, loads: 0, time: 1_000_000 };
  const errors: KeyError[] = [];
  const ring = createKeyRing({
    load: () => {
      source.loads += 1;
      if (source.keys instanceof Error) throw source.keys;
      return source.keys;
    },
    now: () => source.time,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { ring, source, errors };
}

const publicKeys = ({ verifying }: KeySets) => verifying.map(({ partnerPublicKey }) => partnerPublicKey);

describe('a key ring', () => {
  it('gives its keys without a promise while they are fresh, and reads them again when they are old', async () => {
    const { ring, source } = ringOf(generation(1));
    const first = await ring.current();
    source.time += 599_999;
    source.keys = generation(2);
    expect(ring.current()).toBe(first);
    source.time += 1;
    expect(publicKeys(await ring.current())).toEqual(['pk_partner_2']);
    expect(source.loads).toBe(2);
  });

  it('loads once for all who ask at the same time, at first and when a signature matches none', async () => {
    const loads: ReturnType<typeof deferred<PartnerCredentials>>[] = [];
    const { ring, source } = ringOf(generation(1), {
      load: () => {
        const load = deferred<PartnerCredentials>();
        loads.push(load);
        return load.promise;
      },
    });
    const firsts = Array.from({ length: 50 }, () => ring.current());
    loads[0]?.resolve(generation(1));
    const [first] = await Promise.all(firsts);
    expect(loads).toHaveLength(1);
    if (first === undefined) throw new Error('There are no keys.');
    source.time += 5_000;
    const others = Array.from({ length: 50 }, () => ring.newerThan(first));
    loads[1]?.resolve(generation(2));
    for (const newer of await Promise.all(others))
      expect(newer && publicKeys(newer)).toEqual(['pk_partner_2']);
    expect(loads).toHaveLength(2);
  });

  it('until it may read again, does not say that there is nothing newer, but when to ask again', async () => {
    const { ring, source } = ringOf(generation(1));
    const first = await ring.current();
    source.time += 1_500;
    const error = await rejected(ring.newerThan(first));
    expect(error).toMatchObject({ name: 'KeyError', code: 'keys_cooling_down', retryAfterMs: 3_500 });
    expect(isKeyError(error) && error.message).toMatch(
      /again in 3\.5 s \(cooldownMs\)\. .*reload\(\) of the ring/,
    );
    expect(source.loads).toBe(1);
    source.time += 3_500;
    expect(await ring.newerThan(first)).toBeUndefined();
    expect(source.loads).toBe(2);
  });

  it('does not say so either when reading again fails: the keys may be old', async () => {
    const { ring, source } = ringOf(generation(1));
    const first = await ring.current();
    source.keys = new Error('the vault is sealed');
    source.time += 5_000;
    for (const retryAfterMs of [5_000, 4_000]) {
      const error = await rejected(ring.newerThan(first));
      expect(error).toMatchObject({ code: 'keys_not_loaded', retryAfterMs });
      expect(isKeyError(error) && error.message).toContain('the vault is sealed');
      source.time += 1_000;
    }
    expect(source.loads).toBe(2);
  });

  it('does not take a load that began before the question for an answer to it', async () => {
    const loads: ReturnType<typeof deferred<PartnerCredentials>>[] = [];
    const { ring, source } = ringOf(generation(1), {
      load: () => {
        const load = deferred<PartnerCredentials>();
        loads.push(load);
        return load.promise;
      },
    });
    const begun = ring.current();
    loads[0]?.resolve(generation(1));
    const first = await begun;
    source.time += 5_000;
    const [asker, later] = [ring.newerThan(first), rejected(ring.newerThan(first))];
    loads[1]?.resolve(generation(1));
    expect(await asker).toBeUndefined();
    expect(await later).toMatchObject({ code: 'keys_cooling_down' });
    expect(loads).toHaveLength(2);
  });

  it('tells two loads apart by any secret alone', async () => {
    const base = { ...generation(1), merchantSecretKeys: { NGN: 'n1' } };
    const changed = [
      { ...base, partnerSecretKey: 'sk_partner_x' },
      { ...base, merchantSecretKey: 'x' },
      { ...base, merchantSecretKeys: { NGN: 'x' } },
      { ...base, partnerId: 'P-2' },
    ];
    for (const keys of changed) {
      const { ring, source } = ringOf(base);
      const first = await ring.current();
      source.time += 5_000;
      source.keys = keys;
      expect(await ring.newerThan(first)).toBeDefined();
    }
  });

  it('calls nothing a forgery while new keys are awaited: the service may sign with them already', async () => {
    const awaiting = { signing: generation(1), verifying: [generation(1)], awaited: true };
    const { ring, source } = ringOf(awaiting);
    const first = await ring.current();
    source.time += 5_000;
    const codes = ['keys_not_received', 'keys_cooling_down'];
    for (const code of codes) {
      expect(await rejected(ring.newerThan(first))).toMatchObject({ code, retryAfterMs: 5_000 });
    }
    expect(source.loads).toBe(2);
    source.time += 5_000;
    source.keys = generation(2);
    expect(await ring.newerThan(first)).toBeDefined();
  });

  it('keeps the last good keys when a load fails, and reports each failure', async () => {
    const { ring, source, errors } = ringOf(generation(1));
    const first = await ring.current();
    source.keys = new Error('the vault is sealed');
    source.time += 600_000;
    expect(await ring.current()).toBe(first);
    source.time += 5_000;
    expect(await ring.current()).toBe(first);
    expect(errors.map(({ code }) => code)).toEqual(['keys_not_loaded', 'keys_not_loaded']);
    expect(errors[0]?.message).toContain('the vault is sealed');
    source.keys = generation(2);
    source.time += 5_000;
    expect(publicKeys(await ring.current())).toEqual(['pk_partner_2']);
  });

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['nothing', undefined],
    ['a text', 'keys'],
    ['malformed keys', { ...generation(1), partnerSecretKey: 'pk_partner_swapped' }],
  ])('keeps them when a load gives %s', async (_, given) => {
    const { ring, source, errors } = ringOf(generation(1));
    const first = await ring.current();
    source.time += 600_000;
    // What a JavaScript caller can return.
    source.keys = given as LoadedKeys;
    expect(await ring.current()).toBe(first);
    expect(errors).toHaveLength(1);
  });

  it('without any keys throws, says why, and when to come back', async () => {
    const { ring, source } = ringOf(new Error('the vault is sealed'));
    const error = await rejected(Promise.resolve(ring.current()));
    expect(error).toMatchObject({ code: 'keys_unavailable', retryAfterMs: 5_000 });
    expect(isKeyError(error) && error.message).toContain('the vault is sealed');
    source.time += 4_000;
    expect(await rejected(Promise.resolve(ring.current()))).toMatchObject({ retryAfterMs: 1_000 });
    expect(source.loads).toBe(1);
    source.time += 1_000;
    source.keys = generation(1);
    expect(publicKeys(await ring.current())).toEqual(['pk_partner_1']);
  });

  it('gives up a load that does not settle, aborts it, and drops what it returns later', async () => {
    const late = deferred<PartnerCredentials>();
    let signal: AbortSignal | undefined;
    const { ring } = ringOf(generation(1), {
      // real time: nothing ends before it: a busy machine only makes it later.
      timeoutMs: 5,
      load: (options) => {
        signal = options.signal;
        return late.promise;
      },
    });
    const error = await rejected(Promise.resolve(ring.current()));
    expect(isKeyError(error) && error.message).toContain('within 5 ms');
    expect(signal?.aborted).toBe(true);
    late.resolve(generation(1));
    await late.promise;
    expect(ring.loaded).toBeUndefined();
  });

  it('whose load was dropped by the runtime starts another', async () => {
    let loads = 0;
    // Never settles, and its time limit is too far to end it: as if a cancelled request had taken both along.
    const { ring, source } = ringOf(generation(1), {
      timeoutMs: 2 ** 30,
      load: () => {
        loads += 1;
        return loads === 1 ? new Promise<never>(() => {}) : generation(1);
      },
    });
    void Promise.resolve(ring.current()).catch(() => {});
    source.time += 2 ** 31 + 1;
    expect(publicKeys(await ring.current())).toEqual(['pk_partner_1']);
  });

  it('reloads when it is told to, whatever the cool-down, with what the source has then', async () => {
    const loads: ReturnType<typeof deferred<PartnerCredentials>>[] = [];
    const { ring } = ringOf(generation(1), {
      load: () => {
        const load = deferred<PartnerCredentials>();
        loads.push(load);
        return load.promise;
      },
    });
    const first = ring.current();
    // The keys change while the first load is under way: it may have read them before.
    const reloaded = ring.reload();
    loads[0]?.resolve(generation(1));
    await first;
    await nextTurn();
    loads[1]?.resolve(generation(2));
    await reloaded;
    expect(ring.loaded && publicKeys(ring.loaded)).toEqual(['pk_partner_2']);
  });

  it('without onError warns once, and hides what looks like a key', async () => {
    const { ring, source } = ringOf(new Error('bad row sk_partner_leak and token=abc'), {
      onError: undefined,
    });
    const warnings = await warningsDuring(async () => {
      for (let round = 0; round < 3; round++) {
        await rejected(Promise.resolve(ring.current()));
        source.time += 5_000;
      }
    });
    expect(warnings).toHaveLength(1);
    expect(String(warnings[0])).not.toMatch(/leak|abc/);
  });

  it.each([
    'unprefixed-merchant-secret',
    '{"merchantSecretKey": unprefixed-merchant-secret}',
    '"unprefixed" "-merchant-secret"',
  ])('shows nothing of a file of keys that is not JSON: %s', async (text) => {
    const errors: unknown[] = [];
    const ring = createKeyRing({ load: () => JSON.parse(text), onError: (error) => errors.push(error) });
    await rejected(ring.reload());
    expect(errors).toHaveLength(1);
    expect(inspect(errors, { depth: 9, showHidden: true })).not.toMatch(/unpre|secret/i);
  });

  it('shows no key: not printed, not as JSON, not in an error whose cause quotes one', async () => {
    const secrets = ['hidden-partner', 'hidden-merchant'];
    const { ring, source, errors } = ringOf({
      partnerPublicKey: 'pk_partner_hidden-partner',
      partnerSecretKey: 'sk_partner_hidden-partner',
      merchantSecretKey: 'hidden-merchant',
    });
    await ring.current();
    source.keys = new Error('refused hidden-merchant', { cause: new Error('hidden-merchant again') });
    source.time += 600_000;
    await ring.current();
    const options = { depth: 9, showHidden: true, getters: false };
    const shown = [
      inspect(ring, { depth: 9 }),
      JSON.stringify(ring),
      inspect(errors, options),
      JSON.stringify(errors),
    ];
    expect(secrets.filter((secret) => shown.join('\n').includes(secret))).toEqual([]);
    // The public key is printed by credentials on purpose; the secrets are not.
    expect(inspect(ring.loaded, { depth: 9 })).not.toMatch(/sk_partner|hidden-merchant/);
    expect(JSON.stringify(ring.loaded)).not.toMatch(/sk_partner|hidden-merchant/);
  });

  it.each([
    [{ load: 5 }, 'load must be a function'],
    [{ cooldownMs: -1 }, 'cooldownMs'],
    [{ maxAgeMs: 0 }, 'maxAgeMs'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs'],
    [{ coolDownMs: 5 }, 'Did you mean "cooldownMs"?'],
    [{ now: 5 }, 'now must be a function'],
    [{ onError: 5 }, 'onError must be a function'],
  ])('refuses %j', (wrong, message) => {
    const options = { load: () => generation(1), ...wrong } as unknown as KeyRingOptions;
    const error = thrownBy(() => createKeyRing(options));
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
  });
});

it('a key ring loads again at once when its clock was set back', async () => {
  let [time, loads] = [1_000_000, 0];
  const load = () => {
    loads++;
    return generation(1);
  };
  const ring = createKeyRing({ load, now: () => time, cooldownMs: 1000 });
  const used = await ring.current();
  time -= 900_000;
  await ring.newerThan(used);
  expect(loads).toBe(2);
});
