import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import {
  ConfigurationError,
  RequestError,
  type RequestOutcome,
  StoreError,
} from '../../src/errors/errors.ts';
import {
  createKeyRotation,
  type KeyRotation,
  type KeyRotationOptions,
} from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { partner } from '../client/clients.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected, thrownBy } from '../support/refusal.ts';

const day = 86_400_000;

function requestError(outcome: RequestOutcome): RequestError {
  return new RequestError('http_error', 'failed', {
    outcome,
    operation: 'regenerateKeys',
    method: 'POST',
    url: 'x',
  });
}

/** The names of the keys that verify, those that sign first. */
async function verifying(rotation: KeyRotation): Promise<string[]> {
  const sets = await rotation.credentials();
  expect(sets.verifying[0]).toBe(sets.signing);
  return sets.verifying.map(({ partnerPublicKey }) => partnerPublicKey.replace('pk_partner_', ''));
}

describe('a rotation', () => {
  let storage: KeyStorage;
  let time: number;
  let sent: unknown[];
  let answer: Error | undefined;

  beforeEach(() => {
    storage = storedKeys({ store: memoryStore() });
    time = 1_700_000_000_000;
    sent = [];
    answer = undefined;
  });

  /** A new one each time, as if the process had been started anew. */
  function rotation(options: Partial<KeyRotationOptions> = {}): KeyRotation {
    return createKeyRotation({
      storage,
      now: () => time,
      exchange: {
        regenerateKeys: async (identity) => {
          sent.push(identity);
          if (answer !== undefined) throw answer;
          return { status: 200, headers: new Headers(), body: {}, decimal: () => undefined };
        },
      },
      ...options,
    });
  }

  const stepNow = async () => (await rotation().status()).step;

  it('begins without keys, and says so', async () => {
    expect(await stepNow()).toBe('empty');
    const { credentials, promote, request } = rotation();
    for (const step of [credentials, promote, () => request(partner)]) {
      expect(await rejected(step())).toMatchObject({ name: 'KeyError', code: 'keys_unavailable' });
    }
    expect(sent).toEqual([]);
  });

  it('goes through its steps: the new keys verify when received, and sign when promoted', async () => {
    await rotation().receive(generation(1));
    const { status } = await rotation().request(partner);
    expect([status, sent, await stepNow()]).toEqual([200, [partner], 'requested']);
    expect(await verifying(rotation())).toEqual(['1']);
    await rotation().receive(generation(2));
    expect([await verifying(rotation()), await stepNow()]).toEqual([['1', '2'], 'received']);
    expect((await rotation().credentials()).pending?.partnerPublicKey).toBe('pk_partner_2');
    await rotation().promote();
    expect([await verifying(rotation()), await stepNow()]).toEqual([['2', '1'], 'idle']);
    expect((await rotation().credentials()).pending).toBeUndefined();
  });

  it('refuses a second request while keys are awaited, and while they are not promoted', async () => {
    await rotation().receive(generation(1));
    await rotation().request(partner);
    expect(await rejected(rotation().request(partner))).toMatchObject({
      code: 'rotation_pending',
      message: expect.stringContaining('New keys were asked for at 2023-11-14T22:13:20.000Z'),
    });
    expect(await rejected(rotation().promote())).toMatchObject({ code: 'keys_not_received' });
    // The old keys were pasted.
    expect(await rejected(rotation().receive(generation(1)))).toMatchObject({ code: 'keys_known' });
    await rotation().receive(generation(2));
    for (const options of [{}, { again: true }]) {
      expect(await rejected(rotation().request(partner, options))).toMatchObject({
        code: 'rotation_pending',
      });
    }
    expect(sent).toHaveLength(1);
  });

  it('keeps a later request when an earlier one turns out to have been refused', async () => {
    await rotation().receive(generation(1));
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: reply, reject: refuse } = Promise.withResolvers<never>();
    const slow = {
      regenerateKeys() {
        ask();
        return reply;
      },
    };
    const first = rejected(rotation({ exchange: slow }).request(partner));
    await asked;
    await rotation().request(partner, { again: true });
    refuse(requestError('refused'));
    await first;
    expect(await stepNow()).toBe('requested');
  });

  it.each([
    ['refused', requestError('refused')],
    ['not sent', requestError('not-sent')],
    ['wrong before anything was sent', new ConfigurationError('not_configured', 'no base URL')],
  ])('has nothing pending after a request that was %s', async (_, error) => {
    await rotation().receive(generation(1));
    answer = error;
    expect(await rejected(rotation().request(partner))).toBe(answer);
    expect(await stepNow()).toBe('idle');
  });

  it.each([
    ['unknown', requestError('unknown')],
    ['an exception of another kind', new TypeError('?')],
    [
      'an error of the store of a client of one’s own, which may fail after it was sent',
      new StoreError('store_failed', 'full'),
    ],
  ])(
    'says that the outcome is unknown after %s, and goes on by asking again or by receiving',
    async (_name, error) => {
      await rotation().receive(generation(1));
      answer = error;
      expect(await rejected(rotation().request(partner))).toBe(answer);
      expect(await stepNow()).toBe('unknown');
      expect(await rejected(rotation().request(partner))).toMatchObject({ code: 'rotation_unknown' });
      expect(sent).toHaveLength(1);
      // Refused the second time: still nobody knows what became of the first.
      answer = requestError('refused');
      await rejected(rotation().request(partner, { again: true }));
      expect(await stepNow()).toBe('unknown');
      answer = undefined;
      await rotation().request(partner, { again: true });
      expect(await stepNow()).toBe('requested');
      await rotation().receive(generation(2));
      expect(await stepNow()).toBe('received');
    },
  );

  it('keeps what a link does not show: merchant secrets, partner ID and code', async () => {
    await rotation().receive({
      ...generation(1),
      partnerCode: 'acme',
      merchantSecretKeys: { GHS: 'sk_merchant_g' },
    });
    await rotation().receive({ ...generation('typed'), merchantSecretKey: 'sk_merchant_2' });
    await rotation().receive({ partnerPublicKey: 'pk_partner_2', partnerSecretKey: 'sk_partner_2' });
    const { pending } = await rotation().credentials();
    expect([
      pending?.merchantSecretKey,
      pending?.merchantSecretKeys,
      pending?.partnerId,
      pending?.partnerCode,
    ]).toEqual(['sk_merchant_2', { GHS: 'sk_merchant_g' }, 'P-1', 'acme']);
    expect(pending?.partnerSecretKey).toBe('sk_partner_2');
  });

  it('throws no keys away when others are received before these are promoted', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation(2));
    await rotation().receive(generation(3));
    expect(await verifying(rotation())).toEqual(['1', '3', '2']);
    await rotation().promote();
    expect(await verifying(rotation())).toEqual(['3', '1', '2']);
  });

  it('takes known keys again: a key typed wrong is mended by receiving the right ones once more', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation('wrong'));
    await rotation().receive(generation(1));
    expect([await stepNow(), await verifying(rotation())]).toEqual(['idle', ['1', 'wrong']]);
    // Does nothing: there are no other keys that could sign.
    await rotation().promote();
    expect(await verifying(rotation())).toEqual(['1', 'wrong']);
  });

  it('of three receipts the newest counts, in any order, and no keys are there twice', async () => {
    await rotation().receive(generation(0));
    for (const name of ['right', 'wrong', 'right', 'wrong', 'right'])
      await rotation().receive(generation(name));
    expect(await verifying(rotation())).toEqual(['0', 'right', 'wrong']);
    await rotation().promote();
    expect((await rotation().credentials()).signing).toMatchObject({ partnerSecretKey: 'sk_partner_right' });
    expect(await verifying(rotation())).toEqual(['right', '0', 'wrong']);
  });

  it('takes known keys as they were, also where the link does not show all of them', async () => {
    await rotation().receive({ ...generation(1), partnerCode: 'acme' });
    await rotation().receive({ ...generation(2), merchantSecretKey: 'sk_merchant_wrong' });
    await rotation().promote();
    await rotation().receive({ partnerPublicKey: 'pk_partner_1', partnerSecretKey: 'sk_partner_1' });
    await rotation().promote();
    const { signing } = await rotation().credentials();
    expect([signing.merchantSecretKey, signing.partnerCode]).toEqual(['sk_merchant_1', 'acme']);
  });

  it('doubts no first keys, and later ones until a delivery has matched them, in every process', async () => {
    const inDoubt = async () => (await rotation().credentials()).unconfirmed?.();
    await rotation().receive(generation(1));
    expect(await inDoubt()).toBe(false);
    await rotation().receive(generation('wrong'));
    expect(await inDoubt()).toBe(true);
    await rotation().promote();
    expect(await inDoubt()).toBe(true);
    await rotation().receive(generation(2));
    const sets = await rotation().credentials();
    // A match of other keys proves nothing of these.
    await sets.matched?.(0);
    expect([await inDoubt(), sets.unconfirmed?.()]).toEqual([true, true]);
    await sets.matched?.(1);
    expect([await inDoubt(), sets.unconfirmed?.()]).toEqual([false, false]);
    await rotation().promote();
    expect(await inDoubt()).toBe(false);
  });

  it('doubts them for overlapMs at most, also in a process that does not read them again', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation('wrong'));
    const sets = await rotation().credentials();
    time += day;
    expect([sets.unconfirmed?.(), (await rotation().credentials()).unconfirmed?.()]).toEqual([false, false]);
  });

  it('goes on doubting them when the match could not be stored, until the next one', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation(2));
    let isDown = true;
    const update: KeyStorage['update'] = async (change) => {
      if (isDown) throw new StoreError('store_failed', 'down');
      await storage.update(change);
    };
    const sets = await rotation({ storage: { read: () => storage.read(), update } }).credentials();
    expect(await rejected(Promise.resolve(sets.matched?.(1)))).toMatchObject({ code: 'store_failed' });
    expect(sets.unconfirmed?.()).toBe(true);
    isDown = false;
    await sets.matched?.(1);
    expect((await rotation().credentials()).unconfirmed?.()).toBe(false);
  });

  it('does not store malformed keys, and shows none of them', async () => {
    await rotation().receive(generation(1));
    const wrong = { ...generation(2), partnerSecretKey: ' sk_partner_padded' };
    const error = await rejected(rotation().receive(wrong));
    expect(error).toMatchObject({ code: 'invalid_credentials' });
    expect(inspect(error)).not.toContain('padded');
    expect(await verifying(rotation())).toEqual(['1']);
  });

  it('keeps replaced keys when the clock is set back, and forgets none while it is wrong', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation(2));
    await rotation().promote();
    time -= 10 * day;
    expect(await verifying(rotation())).toEqual(['2', '1']);
    time += 400 * day;
    expect(await verifying(rotation())).toEqual(['2']);
    time -= 390 * day;
    expect(await verifying(rotation())).toEqual(['2', '1']);
  });

  it('says where it stands, with times and without keys', async () => {
    await rotation().receive(generation(1));
    await rotation().promote();
    time += 1_000;
    await rotation().request(partner);
    time += 1_000;
    await rotation().receive(generation(2));
    const begun = time - 2_000;
    expect(await rotation().status()).toEqual({
      step: 'received',
      requestedAt: begun + 1_000,
      keys: [
        { generation: 1, role: 'signing', receivedAt: begun },
        { generation: 2, role: 'pending', receivedAt: begun + 2_000 },
      ],
    });
    await rotation().promote();
    const { keys } = await rotation().status();
    expect(keys[1]).toEqual({
      generation: 1,
      role: 'replaced',
      receivedAt: begun,
      replacedAt: time,
      verifiesUntil: time + day + 3_600_000,
    });
  });

  it('shows no key when anything of it is printed or turned into JSON', async () => {
    await rotation().receive(generation(1));
    await rotation().receive(generation(2));
    await rotation().promote();
    const sets = await rotation().credentials();
    const all = [rotation(), sets, await rotation().status(), storage];
    const shown = all.map((each) => `${inspect(each, { depth: 9 })} ${JSON.stringify(each)}`).join('\n');
    expect(shown).not.toMatch(/sk_partner_|sk_merchant_/);
  });
});

describe('a receiver whose ring reads the keys of a rotation', () => {
  const setUp = async ({ cooldownMs = 0, ...options }: WebhooksOptions & { cooldownMs?: number } = {}) => {
    const storage = storedKeys({ store: memoryStore() });
    const taker = createKeyRotation({
      storage,
      exchange: {
        regenerateKeys: async () => ({
          status: 200,
          headers: new Headers(),
          body: {},
          decimal: () => undefined,
        }),
      },
    });
    await taker.receive(generation(1));
    const [source, reader] = [{ time: 1_000_000, loads: 0 }, createKeyRotation({ storage })];
    const ring = createKeyRing({
      load: () => {
        source.loads += 1;
        return reader.credentials();
      },
      cooldownMs,
      now: () => source.time,
    });
    const webhooks = createWebhooks({ credentials: ring, onRefused: () => {}, ...options });
    webhooks.onUnrecognized(() => {});
    const statusOf = async (name: number | string, order: string) =>
      (await webhooks.receive(eventSignedBy(name, order))).status;
    expect(await statusOf(1, 'A-0')).toBe(200);
    return { taker, source, statusOf, receiver: webhooks };
  };

  it('knows the keys that another process has received after one cool-down, and asks to wait until then', async () => {
    const { taker, source, statusOf } = await setUp({ cooldownMs: 5_000 });
    await taker.receive(generation(2));
    for (let count = 0; count < 10; count++) {
      source.time += 499;
      expect([await statusOf(2, 'A-1'), await statusOf('forger', 'A-2')]).toEqual([503, 503]);
    }
    expect(source.loads).toBe(1);
    source.time += 10;
    expect([await statusOf(2, 'A-1'), await statusOf('forger', 'A-2')]).toEqual([200, 503]);
    source.time += 5_000;
    expect(await statusOf('forger', 'A-2')).toBe(401);
    expect(source.loads).toBe(3);
  });

  it('asks to wait while new keys are awaited, and refuses again once they are here', async () => {
    const { taker, statusOf } = await setUp();
    await taker.request(partner);
    expect([await statusOf(2, 'A-1'), await statusOf(1, 'A-2')]).toEqual([503, 200]);
    await taker.receive(generation(2));
    expect([await statusOf(2, 'A-1'), await statusOf('forger', 'A-3')]).toEqual([200, 401]);
  });

  it('asks to wait while the new keys may have been typed wrong, also right after they were read', async () => {
    const { taker, statusOf } = await setUp();
    await taker.receive(generation('wrong'));
    expect([await statusOf(2, 'A-1'), await statusOf(1, 'A-2')]).toEqual([503, 200]);
    await taker.promote();
    expect(await statusOf(2, 'A-1')).toBe(503);
    await taker.receive(generation(2));
    expect([await statusOf('forger', 'A-3'), await statusOf(2, 'A-1')]).toEqual([503, 200]);
    expect(await statusOf('forger', 'A-3')).toBe(401);
    // The keys before them verify for longer once a delivery has matched them.
    await taker.promote();
    expect(await statusOf(1, 'A-4')).toBe(200);
    await nextTurn();
    expect((await taker.status()).keys).toContainEqual(
      expect.objectContaining({ role: 'replaced', matchedAt: expect.any(Number) }),
    );
  });
});

it.each<[Partial<Record<string, unknown>>, string]>([
  [{ storage: undefined }, 'storage.read must be a function'],
  [{ overlapMs: -1 }, 'overlapMs'],
  [{ exchange: {} }, 'exchange.regenerateKeys must be a function'],
])('createKeyRotation refuses %j', (wrong, message) => {
  const storage = { read: async () => undefined, update: async () => {} };
  const options = { storage, ...wrong } as unknown as KeyRotationOptions;
  expect(thrownBy(() => createKeyRotation(options))).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  });
});

it('a text that is none of ours is refused, left as it is, and not shown', async () => {
  const text = 'sk_partner_secret';
  const storage: KeyStorage = {
    read: async () => text,
    update: async (change) => {
      change(text);
    },
  };
  const rotation = createKeyRotation({ storage });
  const keys: PartnerCredentials = generation(1);
  for (const step of [
    rotation.credentials,
    rotation.status,
    () => rotation.receive(keys),
    rotation.promote,
  ]) {
    const error = await rejected(step());
    expect(error).toMatchObject({ code: 'key_storage_invalid' });
    expect(inspect(error)).not.toContain('sk_partner');
  }
});

it('request without an exchange says what is missing', async () => {
  const storage = storedKeys({ store: memoryStore() });
  expect(await rejected(createKeyRotation({ storage }).request(partner))).toMatchObject({
    code: 'not_configured',
  });
});
