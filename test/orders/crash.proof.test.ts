import { describe, expect, it } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { storeKinds } from '../store/store-kinds.ts';
import { untilTestEnds } from '../support/until-test-ends.ts';
import { type Answer, bench, errorOf, event, order } from './service.ts';

/** What becomes of one transaction: it fails or its process dies, before or after the commit. */
type Accident = 'fails-before' | 'fails-after' | 'dies-before' | 'dies-after';

/** A store in which the transactions with these numbers, from 0, have accidents. */
function withAccidents(
  store: RecordStore,
  plan: Readonly<Record<number, Accident>>,
): { store: RecordStore; died: Promise<undefined> } {
  let count = 0;
  const { promise: died, resolve: die } = Promise.withResolvers<undefined>();
  const transact: RecordStore['transact'] = async (keys, change) => {
    const accident = plan[count++];
    if (accident === undefined) return await store.transact(keys, change);
    if (accident.endsWith('after')) await store.transact(keys, change);
    if (!accident.startsWith('dies')) throw new StoreError('store_failed', 'The connection broke.');
    die(undefined);
    return await new Promise<never>(() => {});
  };
  return { store: { ...store, transact }, died };
}

const accidents: readonly Accident[] = ['fails-before', 'fails-after', 'dies-before', 'dies-after'];

/** The answers of the service, and whether it has the order then. */
const answers: readonly { name: string; answer: Answer; has: boolean }[] = [
  { name: '2xx', answer: 'ok', has: true },
  { name: '2xx whose reply is lost', answer: 'lost', has: true },
  { name: 'a refusal', answer: { status: 400 }, has: false },
  { name: 'no connection', answer: 'not-sent', has: false },
];

describe.each(storeKinds())('a crash of create, over $name', ({ name, open }) => {
  const followedBy = (step: number) => [
    { [step + 1]: 'fails-before' as const },
    { [step + 1]: 'fails-after' as const },
  ];
  const isMemory = name === 'memoryStore';
  // On engines only a commit and then an accident; in memory all, also with another one at the second try.
  const cases = answers.flatMap((each) =>
    (isMemory ? [0, 1, 2, 3] : [0, 1]).flatMap((step) =>
      accidents
        .filter((one) => isMemory || one.endsWith('after'))
        .flatMap((one) =>
          [{}, ...(isMemory ? followedBy(step) : [])].map((more) => ({
            ...each,
            plan: { ...more, [step]: one },
          })),
        ),
    ),
  );

  it.each(cases)('$name, $plan: at most one request, and no wrong state', async ({ answer, has, plan }) => {
    const { store, service, another, clock } = bench({ leaseMs: 1000, onStoreError: () => {} }, open);
    service.next.push(answer);
    const first = withAccidents(store, plan);
    const outcome = await Promise.race([
      another({ store: first.store })
        .create(order)
        .then(
          ({ state }) => state,
          (error) => error,
        ),
      first.died,
    ]);
    const wasAsked = service.next.length === 0;
    const exists = wasAsked && has;
    // What the caller was told.
    if (outcome === 'accepted') expect(exists).toBe(true);
    if (outcome === 'refused' || outcome === 'not-sent') expect(exists).toBe(false);
    if (outcome?.code?.startsWith('store')) expect(wasAsked).toBe(false);

    // What another process finds, at once and after the lease.
    for (const wait of [0, 1000]) {
      clock.now += wait;
      const state = (await another().get('A-1001'))?.state;
      if (exists) expect(state).toBeOneOf(['accepted', 'sending', 'unknown']);
      else expect(state).not.toBe('accepted');
      if (wait > 0) expect(state).not.toBe('sending');
    }

    // It may send the order only if no request was made.
    const requests = service.requests.length;
    await another().create(order);
    const isSafe = !wasAsked || answer === 'not-sent';
    expect(service.requests.length - requests).toBeLessThanOrEqual(isSafe ? 1 : 0);
    if (service.requests.length > requests || exists) {
      await another().observe(event());
      expect(await another().get('A-1001')).toMatchObject({ state: 'accepted' });
      expect(await another().unsettled()).toEqual([]);
    }
  });
});

/** The option of a journal whose store has accidents. */
function failing(store: RecordStore, plan: Readonly<Record<number, Accident>>): { store: RecordStore } {
  return { store: withAccidents(store, plan).store };
}

describe('a store that fails', () => {
  it.each([
    ['2xx', 'ok'],
    ['a refusal', { status: 400 }],
  ] as const)('keeps the truth from the journal, not from the caller: %s', async (_, answer) => {
    const reported: unknown[] = [];
    const { store, service, another, clock } = bench({ onStoreError: (error) => reported.push(error) });
    const journal = another(failing(store, { 1: 'fails-before', 2: 'fails-before' }));
    service.next.push(answer);
    if (answer === 'ok') {
      expect(await journal.create(order)).toMatchObject({
        reply: { status: 200 },
        order: { state: 'accepted' },
      });
    } else expect(await errorOf(journal.create(order))).toMatchObject({ outcome: 'refused' });
    expect(reported).toMatchObject([{ code: 'store_failed' }]);
    expect(await another().get('A-1001')).toMatchObject({ state: 'sending' });
    clock.now += 120_000;
    expect(await another().get('A-1001')).toMatchObject({ state: 'unknown' });
  });

  it('is tried once more: a pooled connection may have died unnoticed', async () => {
    const { store, service, another } = bench();
    const journal = another(failing(store, { 0: 'fails-after', 2: 'fails-after' }));
    expect(await journal.create(order)).toMatchObject({
      order: { state: 'accepted', attempts: 1 },
    });
    expect(service.requests).toHaveLength(1);
    expect(await another().get('A-1001')).toMatchObject({ state: 'accepted', attempts: 1 });
  });

  it('that lost the record since does not turn an accepted order into another', async () => {
    const { store, service, journal } = bench();
    service.next.push(async () => {
      const [record] = await store.list({ prefix: 'orders:order:', limit: 1 });
      const key = record?.key ?? '';
      await store.transact([key], (records) => records.delete(key));
      return Response.json({ ok: true });
    });
    expect(await journal.create(order)).toMatchObject({
      reply: { status: 200 },
      order: { state: 'accepted' },
    });
  });

  it('a failing onStoreError changes nothing', async () => {
    const { store, another } = bench({
      onStoreError: async () => {
        throw new Error('mine');
      },
    });
    const journal = another(failing(store, { 1: 'fails-before', 2: 'fails-before' }));
    expect(await journal.create(order)).toMatchObject({ order: { state: 'accepted' } });
  });
});

describe('the records', () => {
  const personal = [
    ...[order.buyer_phone, order.buyer_phone.slice(1), order.buyer_email, order.first_name, order.last_name],
    ...[order.refund_bank, order.refund_account, order.buyer_crypto_address],
  ];

  it.each(storeKinds())('hold nothing of a person in any state: $name', async ({ open }) => {
    const { journal, service, store, clock } = bench({}, open);
    const echo = { message: `No: ${JSON.stringify(order)}`, transactional_kyc: order };
    const named = (partner_order_id: string) => ({ ...order, partner_order_id });
    service.next.push(
      ...[
        { status: 200, body: echo },
        { status: 400, body: echo },
        { status: 500, body: echo },
        'not-sent' as const,
      ],
      () => Promise.reject(new Error(JSON.stringify(order))),
      untilTestEnds,
    );
    for (const id of ['a', 'b', 'c', 'd', 'e']) await journal.create(named(id));
    journal.create(named('f')).catch(() => {});
    await journal.prepare(named('g'));
    await journal.prepare(named('h'));
    await journal.settle('h', 'abandoned', 'no longer wanted');
    await journal.observe({ ...event('c'), transactional_kyc: order, payer_into_account: order } as never);
    clock.now += 1;
    const all = await store.list({ prefix: '', limit: 100 });
    expect(all.length).toBeGreaterThanOrEqual(8);
    const text = JSON.stringify(all);
    for (const value of personal) expect(text).not.toContain(value);
    const shown = JSON.stringify(await Promise.all([...'abcdefgh'].map((id) => journal.get(id))));
    for (const value of personal) expect(shown).not.toContain(value);
  });
});
