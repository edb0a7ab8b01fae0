import { describe, expect, it } from 'vitest';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { createOtp } from '../../src/otp/create-otp.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { once } from '../../src/store/once.ts';
import { generation } from '../credentials/keys.ts';
import { bench, order } from '../orders/service.ts';
import { buyCreditedBody } from '../support/bodies.ts';
import { rejected } from '../support/refusal.ts';
import { loadRecords, type RecordDump } from './dumps.ts';
import { allFixtures, type Fixtures } from './fixtures.ts';
import { day, writtenAt } from './subjects.ts';

/** Each order of the journal, how it is shown two minutes later, and what becomes of it if it is created again. */
const orders = {
  abandoned: [{ state: 'abandoned', evidence: 'person', note: 'not at the service' }, 'order_abandoned'],
  'accepted-by-person': [{ state: 'accepted', evidence: 'person', note: 'seen at the service' }, 'accepted'],
  'accepted-by-event': [{ state: 'accepted', evidence: 'event' }, 'accepted'],
  'accepted-by-reply': [{ state: 'accepted', evidence: 'reply', status: 200 }, 'accepted'],
  'accepted-as-duplicate': [{ state: 'accepted', evidence: 'duplicate', status: 409 }, 'accepted'],
  contradiction: [{ state: 'accepted', evidence: 'event', contradiction: 'refused' }, 'accepted'],
  refused: [{ state: 'refused', status: 422, failure: 'http_error' }, 'order_refused'],
  'not-sent': [{ state: 'not-sent' }, 'sent'],
  'not-sent-again': [{ state: 'not-sent' }, 'sent'],
  prepared: [{ state: 'prepared', attempts: 0 }, 'sent'],
  unknown: [{ state: 'unknown', attempts: 1 }, 'outcome_unknown'],
  expired: [{ state: 'unknown', attempts: 1 }, 'outcome_unknown'],
  sending: [{ state: 'unknown', attempts: 1 }, 'outcome_unknown'],
} as const;

for (const fixtures of allFixtures) {
  const { release, json, text, names } = fixtures;

  describe(`the order journal, written by ${release},`, () => {
    async function open() {
      const made = bench();
      await loadRecords(made.store, json<RecordDump>('orders.json'));
      return made;
    }

    it('has each order in its state', async () => {
      const { journal, clock } = await open();
      // Still under way then.
      expect(await journal.get('sending')).toMatchObject({
        state: 'sending',
        leaseUntil: expect.any(Number),
      });
      clock.now += 200_000;
      for (const [id, [expected]] of Object.entries(orders))
        expect(await journal.get(id), id).toMatchObject({ partner_order_id: id, ...expected });
    });

    it.each(Object.entries(orders))('sends no order twice: %s', async (id, [, expected]) => {
      const { journal, clock, service } = await open();
      clock.now += 200_000;
      const creating = journal.create(
        { ...order, partner_order_id: id },
        { merchant: 'ngn', acceptAddress: 'written before addresses were checked' },
      );
      if (expected === 'accepted' || expected === 'sent')
        expect(await creating).toMatchObject({ state: 'accepted' });
      else expect(await creating).toMatchObject({ error: { code: expected } });
      expect(service.requests).toEqual(expected === 'sent' ? [id] : []);
    });
  });

  describeEvents(fixtures);

  describe(`one-time codes, written by ${release}`, () => {
    interface Written {
      readonly secrets: string[];
      readonly ids: readonly string[];
      readonly codes: readonly string[];
      readonly records: RecordDump;
    }
    const { secrets, ids, codes, records } = json<Written>('otp.json');
    const [issued = '', _tried = '', used = ''] = ids;
    const sent: unknown[] = [];

    async function open(limits = {}) {
      const now = () => writtenAt + 60_000;
      const store = memoryStore({ now });
      await loadRecords(store, records);
      const messenger = { sendMessage: async (message: unknown) => sent.push(message) };
      return createOtp({ messenger, store, secrets, now, allowedPrefixes: ['+234'], limits });
    }

    it('are right once, for their purpose and subject', async () => {
      const otp = await open();
      const asked = { purpose: 'sign-in', subject: 'user-7' };
      expect(await otp.check(issued, codes[0] ?? '', { purpose: 'sign-in' })).toMatchObject({ ok: false });
      expect(await otp.check(issued, codes[0] ?? '', asked)).toEqual({
        ok: true,
        to_phone: '+2348012345678',
      });
      expect(await otp.check(issued, codes[0] ?? '', asked)).toMatchObject({ reason: 'not_valid' });
      expect(await otp.check(used, codes[2] ?? '', { purpose: 'sign-in' })).toMatchObject({
        reason: 'not_valid',
      });
    });

    it('count the messages of before: of the number and of the network', async () => {
      const ofNumber = (await open({ messagesPerPhone: { max: 1, windowMs: 86_400_000 } })).issue({
        ...{ to_phone: '+2348012345678', purpose: 'sign-in' },
      });
      expect(await rejected(ofNumber)).toMatchObject({ code: 'limit_reached', limit: 'messagesPerPhone' });
      const unconfirmedPerIp = { floor: 2, ratio: 1, windowMs: 86_400_000 };
      const ofNetwork = (await open({ unconfirmedPerIp })).issue({
        ...{ to_phone: '+2348012345698', purpose: 'sign-in', ip: '192.0.2.7' },
      });
      expect(await rejected(ofNetwork)).toMatchObject({ limit: 'unconfirmedPerIp' });
    });
  });

  it(`an effect is not repeated, written by ${release}`, async () => {
    const { key, result, records } = json<{ key: string; result: unknown; records: RecordDump }>('once.json');
    const store = memoryStore();
    await loadRecords(store, records);
    const repeated = () => Promise.reject(new Error('It was repeated.'));
    expect(await once(store, key, repeated, { fingerprint: '0xabc' })).toEqual(result);
    expect(await rejected(once(store, key, repeated, { fingerprint: '0xdef' }))).toMatchObject({
      code: 'different_input',
    });
  });

  describe(`the keys of a rotation, written by ${release}`, () => {
    const now = () => writtenAt + 600_000;
    const steps = {
      first: 'idle',
      unknown: 'unknown',
      requested: 'requested',
      received: 'received',
      promoted: 'idle',
    };

    async function open(step: string) {
      const store = memoryStore();
      await store.transact(['partner-exchange-keys'], (records) =>
        records.set('partner-exchange-keys', text(`keys/${step}.json`)),
      );
      return createKeyRotation({ storage: storedKeys({ store }), now });
    }

    it.each(Object.entries(steps))('are at their step: %s', async (file, step) => {
      expect(names('keys')).toContain(`${file}.json`);
      expect(await (await open(file)).status()).toMatchObject({ step });
    });

    it('sign and verify as they did', async () => {
      const first = { ...generation(1), merchantSecretKeys: { ngn: 'sk_merchant_ngn' }, partnerCode: 'acme' };
      const second = { ...first, ...generation(2) };
      const received = await (await open('received')).credentials();
      expect(received.signing).toEqual(expect.objectContaining({ partnerPublicKey: 'pk_partner_1' }));
      expect(received.signing.partnerSecretKey).toBe(first.partnerSecretKey);
      expect(received.pending?.merchantSecretKeys).toEqual(second.merchantSecretKeys);
      const promoted = await (await open('promoted')).credentials();
      expect(promoted.signing.partnerSecretKey).toBe(second.partnerSecretKey);
      expect(promoted.verifying.map(({ partnerSecretKey }) => partnerSecretKey)).toEqual([
        second.partnerSecretKey,
        first.partnerSecretKey,
      ]);
    });
  });
}

function describeEvents({ release, json }: Fixtures): void {
  describe(`orders and their events, written by ${release},`, () => {
    async function open() {
      const made = bench({ onMismatch: () => {} });
      await loadRecords(made.store, json<RecordDump>('order-events.json'));
      made.clock.now += day;
      return made;
    }

    it('have what was ordered, each event, and how far they are', async () => {
      const { journal } = await open();
      expect(await journal.get('credited')).toMatchObject({
        ordered: { chain: 'usdt-trc20', fiat_currency: 'NGN', fiat_amount: '15000.50' },
        timeline: { stage: 'credited' },
        events: [
          { name: 'event.buy.init' },
          { name: 'event.buy.received.fiat' },
          { name: 'event.buy.credited.crypto' },
        ],
      });
      expect(await journal.get('accepted-address')).toMatchObject({ acceptAddress: 'asked by phone' });
    });

    it('go on: a decision holds for its event alone, and an address is still compared', async () => {
      const { journal } = await open();
      const credited = (id: string, members = {}) => buyCreditedBody({ partner_order_id: id, ...members });
      const elsewhere = { buyer_crypto_address: 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2' };
      expect(await journal.observe(credited('decided', elsewhere), { digest: 'd'.repeat(64) })).toMatchObject(
        {
          order: { timeline: { stage: 'credited' } },
        },
      );
      for (const id of ['decided', 'credited', 'accepted-address'])
        expect(await rejected(journal.observe(credited(id, elsewhere)))).toMatchObject({
          code: 'order_mismatch',
        });
      const { events = [] } = (await journal.get('elsewhere')) ?? {};
      const seen = events.filter(({ differences }) => differences).map(({ digest }) => digest);
      expect(await journal.settle('elsewhere', 'accepted', 'seen', { events: seen })).not.toHaveProperty(
        'attention',
      );
    });
  });
}
