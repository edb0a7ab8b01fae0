import type { RequestError } from '../../../src/errors/errors.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { createKeyRotation, type KeyRotation } from '../../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../../src/keys/rotation-state.ts';
import { createOtp } from '../../../src/otp/create-otp.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { once } from '../../../src/store/once.ts';
import { generation } from '../../credentials/keys.ts';
import { bench, event, order } from '../../orders/service.ts';
import { requestError } from '../../otp/support.ts';
import { buyCreditedBody, buyFiatReceivedBody, buyInitBody } from '../../support/bodies.ts';
import { dumpRecords } from '../dumps.ts';
import { writtenAt } from '../subjects.ts';

/** One order in each state of the journal, each named after it. */
export async function orderRecords() {
  const { journal, service, store, clock, another } = bench();
  const named = (partner_order_id: string) => ({ ...order, partner_order_id });
  const create = (id: string, ...answers: typeof service.next) => {
    service.next.push(...answers);
    return journal.create(named(id), { merchant: 'ngn' });
  };
  const ids = ['abandoned', 'accepted-by-person', 'accepted-by-event', 'unknown', 'expired'];
  for (const id of ids) await create(id, 'lost');
  await journal.settle('abandoned', 'abandoned', 'not at the service');
  await journal.settle('accepted-by-person', 'accepted', 'seen at the service');
  await journal.observe(event('accepted-by-event'));
  await create('accepted-by-reply');
  await create('refused', { status: 422 });
  await create('not-sent', 'not-sent');
  await create('contradiction', { status: 422 });
  await journal.observe(event('contradiction'));
  await create('accepted-as-duplicate', 'lost');
  service.next.push({ status: 409 });
  await another({ duplicateIds: 'refused' }).create(named('accepted-as-duplicate'), { merchant: 'ngn' });
  await journal.prepare(named('prepared'), { merchant: 'ngn' });
  await journal.prepare(named('not-sent-again'), { merchant: 'ngn' });
  await create('not-sent-again', 'not-sent');
  clock.now += 1_000;
  const begun = Promise.withResolvers<void>();
  service.next.push(() => {
    begun.resolve();
    return new Promise(() => {});
  });
  void journal.create(named('sending'), { merchant: 'ngn' });
  await begun.promise;
  return await dumpRecords(store);
}

/** Orders with what their events said of them: each named after what reconcile or a person finds. */
export async function orderEventRecords() {
  const { journal, store, clock } = bench({ rejectMismatch: 'address', onMismatch: () => {} });
  const elsewhere = { buyer_crypto_address: 'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2' };
  const observe = (body: JsonObject, digest?: string) => {
    clock.now += 1_000;
    return journal.observe(body, { digest }).catch(() => undefined);
  };
  const paid = async (partner_order_id: string) => {
    await journal.create({ ...order, partner_order_id }, { merchant: 'ngn' });
    await observe(buyInitBody({ partner_order_id }));
    await observe(buyFiatReceivedBody({ partner_order_id }));
  };
  for (const id of ['credited', 'elsewhere', 'decided', 'unread', 'respelt']) await paid(id);
  await observe(buyCreditedBody({ partner_order_id: 'credited' }));
  await observe(buyCreditedBody({ partner_order_id: 'elsewhere', ...elsewhere }), 'e'.repeat(64));
  await observe(buyCreditedBody({ partner_order_id: 'decided', ...elsewhere }), 'd'.repeat(64));
  await journal.settle('decided', 'accepted', 'seen at the service', { events: ['d'.repeat(64)] });
  const { crypto_txn_hash, ...unread } = buyCreditedBody({ partner_order_id: 'unread' });
  await observe(unread);
  await observe(buyCreditedBody({ partner_order_id: 'respelt', chain: 'USDT_TRC_20', fiat_currency: 'GHS' }));
  await journal.create(
    { ...order, partner_order_id: 'accepted-address' },
    { acceptAddress: 'asked by phone' },
  );
  return await dumpRecords(store);
}

/** Flows and counters of phone number, network and all; the codes that were sent, and the secrets that seal them. */
export async function otpRecords() {
  const now = () => writtenAt;
  const store = memoryStore({ now });
  const sent: string[] = [];
  const secrets = ['secret-of-the-fixtures-0123456789abcdef'];
  const otp = createOtp({
    messenger: { sendMessage: async ({ message }) => sent.push(/\d{6}/.exec(message)?.[0] ?? '') },
    ...{
      store,
      secrets,
      now,
      allowedPrefixes: ['+234'],
      lifetimeMs: 600_000,
    },
  });
  const issue = (to_phone: string, subject?: string) =>
    otp.issue({ to_phone, purpose: 'sign-in', ip: '192.0.2.7', ...(subject !== undefined && { subject }) });
  const issued = await issue('+2348012345678', 'user-7');
  const tried = await issue('+2348012345679');
  await otp.check(tried.id, '000000', { purpose: 'sign-in' });
  const used = await issue('+2348012345680');
  await otp.check(used.id, sent[2] ?? '', { purpose: 'sign-in' });
  return { secrets, ids: [issued.id, tried.id, used.id], codes: sent, records: await dumpRecords(store) };
}

/** An effect that has happened. */
export async function onceRecords() {
  const store = memoryStore({ now: () => writtenAt });
  const result = { sent: true };
  await once(store, 'mail/P-1/A-1', () => result, { fingerprint: '0xabc', now: () => writtenAt });
  return { key: 'mail/P-1/A-1', result, records: await dumpRecords(store) };
}

/** A rotation at each of its steps, as the storage keeps it. */
export async function rotationTexts(): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  let clock = writtenAt;
  let text: string | undefined;
  const storage: KeyStorage = {
    read: async () => text,
    update: async (change) => {
      text = change(text) ?? text;
    },
  };
  const outcomes: (RequestError | undefined)[] = [];
  const exchange = {
    async regenerateKeys() {
      const error = outcomes.shift();
      if (error !== undefined) throw error;
      // Sound: nothing reads the reply.
      return {} as never;
    },
  };
  const rotation: KeyRotation = createKeyRotation({ exchange, storage, now: () => clock });
  const keep = (step: string) => {
    texts[step] = text ?? '';
    clock += 60_000;
  };
  const partner = { email: 'dev@acme.example', partner_code: 'acme' };
  await rotation.receive({
    ...generation(1),
    merchantSecretKeys: { ngn: 'sk_merchant_ngn' },
    partnerCode: 'acme',
  });
  keep('first');
  outcomes.push(requestError('unknown'));
  await rotation.request(partner).catch(() => {});
  keep('unknown');
  await rotation.request(partner, { again: true });
  keep('requested');
  await rotation.receive(generation(2));
  keep('received');
  await rotation.promote();
  const { matched } = await rotation.credentials();
  await matched?.(1);
  keep('promoted');
  return texts;
}
