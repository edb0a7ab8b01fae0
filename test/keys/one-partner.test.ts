import { beforeEach, describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { PartnerCredentials, PartnerNames } from '../../src/credentials/partner-credentials.ts';
import type { MatchedKey } from '../../src/credentials/verification-keys.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { effectKey } from '../../src/events/effect-key.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { partner } from '../client/clients.ts';
import { bases } from '../deployment/bases.ts';
import { errorOf, fakeService, order } from '../orders/service.ts';
import { buyInitBody } from '../support/bodies.ts';
import { rejected } from '../support/refusal.ts';
import { delivery } from '../webhooks/deliveries.ts';
import { warningsDuring } from '../webhooks/warnings.ts';

/** Keys of which the link shows no name, unless one is given. */
function keys(name: string | number, names: PartnerNames = {}): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${name}`,
    partnerSecretKey: `sk_partner_${name}`,
    merchantSecretKey: `sk_merchant_${name}`,
    ...names,
  };
}

const body = buyInitBody({ partner_order_id: order.partner_order_id });
const eventBy = (name: string | number) => delivery(body, `sk_merchant_${name}sk_partner_${name}`);
const parsed = parseOrderEvent(body);
if (parsed.kind !== 'known') throw new Error(parsed.kind);
const { event } = parsed;

/** The parts of one process, as if it had been started anew. */
function start(storage: KeyStorage, store: RecordStore) {
  const rotation = createKeyRotation({ storage });
  const ring = createKeyRing({ load: rotation.credentials });
  const service = fakeService();
  const exchange = new ExchangeClient({
    ...{ deployment: defineDeployment(bases), credentials: ring },
    ...{ fetch: service.fetch, maxAttempts: 1 },
  });
  const journal = createOrderJournal({ exchange, store });
  const webhooks = createWebhooks({ credentials: ring, inbox: storeInbox({ store, role: 'drain' }) });
  return { rotation, journal, service, webhooks, ring };
}

async function keyOf({ webhooks }: ReturnType<typeof start>, signer: string | number): Promise<MatchedKey> {
  const outcome = await webhooks.receive(eventBy(signer));
  if (outcome.key === undefined) throw new Error(outcome.kind);
  return outcome.key;
}

const kindOf = async ({ webhooks }: ReturnType<typeof start>, signer: string | number) =>
  (await webhooks.receive(eventBy(signer))).kind;

describe('keys of one rotation are one partner', () => {
  let storage: KeyStorage;
  let store: RecordStore;
  const fresh = () => start(storage, store);

  beforeEach(() => {
    storage = storedKeys({ store: memoryStore() });
    store = memoryStore();
  });

  it.each<[string, PartnerNames, PartnerNames, PartnerNames]>([
    ['no name, then the code, then the ID', {}, { partnerCode: 'acme' }, { partnerId: 'P-1' }],
    ['the code, then the ID', { partnerCode: 'acme' }, { partnerId: 'P-1' }, {}],
    ['the ID, then another code', { partnerId: 'P-1', partnerCode: 'a' }, { partnerCode: 'b' }, {}],
  ])('an event is handled once although they have %s', async (__, first, second, third) => {
    await fresh().rotation.receive(keys(1, first));
    expect(await kindOf(fresh(), 1)).toBe('stored');
    await fresh().rotation.receive(keys(2, second));
    const between = fresh();
    expect([await kindOf(between, 2), await kindOf(between, 1)]).toEqual(['duplicate', 'duplicate']);
    await fresh().rotation.promote();
    const promoted = fresh();
    expect([await kindOf(promoted, 2), await kindOf(promoted, 1)]).toEqual(['duplicate', 'duplicate']);
    await fresh().rotation.receive(keys(3, third));
    await fresh().rotation.promote();
    const later = fresh();
    for (const name of [3, 2, 1]) expect(await kindOf(later, name)).toBe('duplicate');
  });

  it('an order whose reply was lost under keys without a name is settled by an event under named ones', async () => {
    await fresh().rotation.receive(keys(1));
    const before = fresh();
    before.service.next.push('lost');
    await errorOf(before.journal.create(order));
    await fresh().rotation.receive(keys(2, { partnerId: 'P-1' }));
    await fresh().rotation.promote();
    const after = fresh();
    const context = { key: await keyOf(after, 2) };
    expect(await after.journal.observe(event, context)).toMatchObject({ result: 'accepted' });
    expect(await fresh().journal.get(order.partner_order_id)).toMatchObject({ state: 'accepted' });
  });

  it.each<[string, PartnerNames, PartnerNames]>([
    ['none', {}, { partnerId: 'P-1' }],
    ['the ID', { partnerId: 'P-1' }, { partnerCode: 'acme' }],
  ])('the key of an effect stays as the first name (%s) made it', async (__, first, second) => {
    await fresh().rotation.receive(keys(1, first));
    const before = effectKey(event, { key: await keyOf(fresh(), 1) });
    expect(before).toBe(effectKey(event, { key: first }));
    await fresh().rotation.receive(keys(2, second));
    await fresh().rotation.promote();
    for (const name of [1, 2]) expect(effectKey(event, { key: await keyOf(fresh(), name) })).toBe(before);
  });

  it('a different name is refused with words, and nothing is stored', async () => {
    await fresh().rotation.receive(keys(1, { partnerId: 'P-1', partnerCode: 'acme' }));
    const stored = await storage.read();
    const error = await rejected(fresh().rotation.receive(keys(2, { partnerId: 'P-2' })));
    expect(error).toMatchObject({
      code: 'keys_of_another_partner',
      message: expect.stringMatching(/"P-2".*"P-1".*storage/),
    });
    expect(await storage.read()).toBe(stored);
    await fresh().rotation.receive(keys(2));
    await fresh().rotation.promote();
    expect(await rejected(fresh().rotation.receive(keys(3, { partnerId: 'P-3' })))).toMatchObject({
      code: 'keys_of_another_partner',
    });
  });

  it('a name typed wrong beside new keys can be corrected', async () => {
    await fresh().rotation.receive(keys(1));
    const first = await keyOf(fresh(), 1);
    await fresh().rotation.receive(keys(2, { partnerId: 'P-l' }));
    await fresh().rotation.receive(keys(2, { partnerId: 'P-1' }));
    await fresh().rotation.promote();
    expect(await keyOf(fresh(), 2)).toMatchObject({ partnerId: 'P-1', origin: first.origin });
    expect(await kindOf(fresh(), 1)).toBe('duplicate');
  });

  it('a name for the current keys is theirs at once, with nothing to promote', async () => {
    const { rotation } = fresh();
    await rotation.receive(keys(1));
    expect(await kindOf(fresh(), 1)).toBe('stored');
    await rotation.receive(keys(1, { partnerId: 'P-1' }));
    expect(await rotation.status()).toMatchObject({ step: 'idle', keys: [{ generation: 1 }] });
    expect(await keyOf(fresh(), 1)).toMatchObject({ partnerId: 'P-1' });
    expect((await rotation.credentials()).unconfirmed?.()).toBe(false);
  });

  it('a name for the current keys does not end the wait for new ones', async () => {
    const exchange = {
      regenerateKeys: async () => ({
        status: 200,
        headers: new Headers(),
        body: {},
        decimal: () => undefined,
      }),
    };
    const rotation = createKeyRotation({ storage, exchange });
    await rotation.receive(keys(1));
    await rotation.request(partner);
    await rotation.receive(keys(1, { partnerId: 'P-1' }));
    expect(await rejected(rotation.promote())).toMatchObject({ code: 'keys_not_received' });
    expect(await kindOf(fresh(), 2)).toBe('unverified');
    await rotation.receive(keys(2));
    expect(await kindOf(fresh(), 2)).toBe('stored');
  });
});

describe('owners count as one among the keys of one rotation only', () => {
  /** Two partners whose keys were stored without a name, and named later. */
  async function twoRotations() {
    const store = memoryStore();
    const [one, other] = ['one', 'other'].map((key) => storedKeys({ store: memoryStore(), key }));
    if (one === undefined || other === undefined) throw new Error('There are two.');
    const rotate = async (storage: KeyStorage, name: string): Promise<KeyRotation> => {
      const { rotation } = start(storage, store);
      await rotation.receive(keys(`${name}-1`));
      return rotation;
    };
    const name = async (rotation: KeyRotation, partnerId: string) => {
      await rotation.receive(keys(`${partnerId}-2`, { partnerId }));
      await rotation.promote();
    };
    return { store, one, other, rotate, name };
  }

  it('an event of another one settles no order that was sent without a name', async () => {
    const { store, one, other, rotate, name } = await twoRotations();
    const [first, second] = [await rotate(one, 'a'), await rotate(other, 'b')];
    const sender = start(one, store);
    sender.service.next.push('lost');
    await errorOf(sender.journal.create(order));
    await name(first, 'P-1');
    await name(second, 'P-2');
    const foreign = start(other, memoryStore());
    const messages = await warningsDuring(async () => {
      const key = await keyOf(foreign, 'P-2-2');
      expect(await sender.journal.observe(event, { key })).toEqual({ result: 'other_partner' });
    });
    expect(String(messages)).toMatch(/event of another partner/);
    const key = await keyOf(start(one, memoryStore()), 'P-1-2');
    expect(await sender.journal.observe(event, { key })).toMatchObject({ result: 'accepted' });
  });

  it('keys of another partner that a ring adds to those of a rotation stay those of another partner', async () => {
    const { one, rotate, name } = await twoRotations();
    await name(await rotate(one, 'a'), 'P-1');
    const ring = createKeyRing({
      load: async () => {
        const sets = await createKeyRotation({ storage: one }).credentials();
        return { ...sets, verifying: [...sets.verifying, keys('b', { partnerId: 'P-2' })] };
      },
    });
    const webhooks = createWebhooks({ credentials: ring }).onAny(() => {});
    const kinds = [];
    for (const signer of ['P-1-2', 'b', 'a-1', 'b']) kinds.push(await webhooks.receive(eventBy(signer)));
    expect(kinds).toMatchObject([
      { kind: 'handled', key: { partnerId: 'P-1' } },
      { kind: 'handled', key: { partnerId: 'P-2' } },
      { kind: 'duplicate', key: { partnerId: 'P-1' } },
      { kind: 'duplicate', key: { partnerId: 'P-2' } },
    ]);
    expect(kinds[1]).not.toHaveProperty('key.origin');
  });
});
