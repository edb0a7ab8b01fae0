import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RequestError, type RequestOutcome } from '../../src/errors/errors.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { type OrderSender, readJournalOptions } from '../../src/orders/journal-options.ts';
import { type AttemptOptions, OrderAttempts } from '../../src/orders/order-attempts.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import { beginAttempt } from '../../src/orders/transitions.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import { down, put, recordOf, recordsBench } from './records-bench.ts';
import { order } from './service.ts';

const leaseMs = 1_000;

/** Called while the service has a request. */
type Answer = (call: { leftMs?: (() => number) | undefined }) => unknown;

/** The attempts of a journal, over a client whose requests the service accepts. */
function attemptsBench(answer: Answer = () => {}) {
  const bench = recordsBench();
  const prepared: unknown[] = [];
  const requests: unknown[] = [];
  const exchange: OrderSender = {
    async prepareOrder(payload, options) {
      prepared.push(options);
      return {
        // Sound: it is one of the orders below.
        ...{ payload: { ...payload } as JsonObject, partnerId: 'P-1', partnerCode: 'acme', rotation: 'r-1' },
        // Sound: without a schema a body has any type.
        send: async (call = {}) => {
          requests.push(call);
          await answer(call);
          return { status: 200, headers: new Headers(), body: undefined } as never;
        },
      };
    },
  };
  const settings = readJournalOptions({
    ...{ exchange, store: bench.memory, leaseMs, now: () => bench.clock.now },
  });
  const attempts = new OrderAttempts({ ...settings, exchange }, bench.records);
  const check = async (more: object = {}) =>
    await attempts.check({ ...order, ...more }, { merchant: 'ngn', acceptAddress: 'Confirmed' });
  async function attempt(more: Partial<AttemptOptions> = {}) {
    const checked = await check();
    const rules = { again: false, replace: false, resendUnknown: true };
    return await attempts.attempt(checked, {
      begin: (record, lease) => beginAttempt(record, checked.intent, { ...rules, ...lease }),
      reports: false,
      ...more,
    });
  }
  const failureOf: typeof attempts.failureOf = (record, sent) => attempts.failureOf(record, sent);
  return { ...bench, failureOf, check, attempt, prepared, requests };
}

function failed(outcome: RequestOutcome): RequestError {
  const details = { operation: 'createOrder', method: 'POST', url: 'https://exchange.example', outcome };
  return new RequestError('http_error', 'It failed.', { ...details, status: 422 });
}

describe('the check of an order', () => {
  it('gives what the journal will know of it', async () => {
    const bench = attemptsBench();
    const { intent } = await bench.check();
    expect(bench.prepared).toEqual([{ merchant: 'ngn', acceptAddress: 'Confirmed' }]);
    const { salt = '', address, ...ordered } = intent.ordered;
    expect({ ...intent, ordered }).toEqual({
      ...{ partner_order_id: 'A-1001', digest: expect.stringMatching(/^[0-9a-f]{64}$/), merchant: 'ngn' },
      ...{
        acceptAddress: 'Confirmed',
        partnerId: 'P-1',
        partnerCode: 'acme',
        rotation: 'r-1',
        reports: undefined,
      },
      ordered: { chain: 'usdt-trc20', fiat_currency: 'NGN', fiat_amount: '15000.50' },
    });
    // 128 random bits, as text that any store can hold.
    expect(salt).toMatch(/^[\w-]{22}$/);
    const hashed = createHash('sha256').update(`${salt}:${order.buyer_crypto_address}`).digest('hex');
    expect(address).toBe(hashed);
    expect((await bench.check()).intent.ordered.salt).not.toBe(salt);
  });
});

describe('an attempt', () => {
  it('that the rules deny has the record as it is', async () => {
    const bench = attemptsBench();
    const record = await put(bench, 'A-1001', { state: 'abandoned' });
    expect(await bench.attempt()).toMatchObject({
      ...{ kind: 'denied', record, error: { code: 'different_order' } },
    });
  });

  it.each([true, false])('whose intent may have been written is not-sent (reports: %s)', async (reports) => {
    const bench = attemptsBench();
    bench.hooks.after = down;
    expect(await rejected(bench.attempt({ reports }))).toMatchObject({ code: 'store_failed' });
    bench.hooks.after = () => {};
    expect(await bench.open().read('A-1001')).toMatchObject({ state: 'sending' });
    const record = await bench.records.read('A-1001');
    expect(record).toMatchObject({ state: 'not-sent', failure: 'store_failed', unresolved: [] });
    expect(record).not.toHaveProperty('status');
    expect(bench.requests).toEqual([]);
  });

  it.each([true, false])('writes its result, and whether it is to be reported: %s', async (reports) => {
    const bench = attemptsBench();
    const made = await bench.attempt({ reports });
    const claim = { unreported: true, claimedUntil: bench.clock.now + leaseMs } as const;
    expect(made).toMatchObject({
      ...{ kind: 'sent', sent: { result: { outcome: 'accepted' }, reply: { status: 200 } } },
      record: { state: 'accepted', evidence: 'reply', ...(reports && claim) },
    });
    expect(made.record?.unreported).toBe(reports ? true : undefined);
    expect(await bench.open().read('A-1001')).toEqual(made.record);
  });

  it.each([true, false])('keeps a result that cannot be written (reports: %s)', async (reports) => {
    const warnings = processWarnings();
    const bench = attemptsBench(() => {
      bench.hooks.before = down;
    });
    const made = await bench.attempt({ reports });
    expect(made).toMatchObject({ kind: 'sent', record: { state: 'accepted', evidence: 'reply' } });
    expect(warnings()).toMatchObject([expect.stringContaining('could not be written to the journal')]);
    bench.hooks.before = () => {};
    expect(await bench.open().read('A-1001')).toMatchObject({ state: 'sending' });
    expect(await bench.records.read('A-1001')).toMatchObject({
      ...{ state: 'accepted', unresolved: [], ...(reports && { unreported: true }) },
    });
  });

  it.each<[string, number | undefined, number, number]>([
    ['until its lease is over', undefined, 0, leaseMs],
    ['until its lease is over, which has begun', undefined, 400, leaseMs - 400],
    ['for no longer than its caller waits', 7, 0, 7],
    ['for no longer than its lease, however long its caller waits', leaseMs + 1, 0, leaseMs],
    ['for no time when its lease is over', 7, leaseMs, 0],
    ['for no time when the clock was set back so far that others think so', 7, -120_000, 0],
  ])('may take: %s', async (_, callerMs, passedMs, expected) => {
    const left: unknown[] = [];
    const bench = attemptsBench(({ leftMs }) => {
      bench.clock.now += passedMs;
      left.push(leftMs?.());
      bench.clock.now -= passedMs;
    });
    await bench.attempt(callerMs === undefined ? {} : { call: { leftMs: () => callerMs } });
    expect(left).toEqual([expected]);
  });
});

describe('the failure of an attempt', () => {
  type Evidence = NonNullable<OrderRecord['evidence']>;
  const because = (
    bench: ReturnType<typeof attemptsBench>,
    outcome: RequestOutcome,
    more: Partial<OrderRecord>,
  ) => {
    const error = failed(outcome);
    const result = { outcome, failure: 'http_error', status: 422 } as const;
    const failure = bench.failureOf(recordOf('A-1001', bench, more), { result, error });
    return failure === error ? 'as it is' : failure;
  };

  it('is none if there is a reply', async () => {
    const bench = attemptsBench();
    const made = await bench.attempt();
    if (made.kind !== 'sent') throw new Error('It was not sent.');
    // A person has settled it meanwhile, and another request is under way.
    const settled: OrderRecord = { ...made.record, evidence: 'person', unresolved: ['b'] };
    expect(bench.failureOf(settled, made.sent)).toBeUndefined();
  });

  it.each<[Evidence, RequestOutcome, string | undefined]>([
    ['event', 'refused', undefined],
    ['event', 'unknown', undefined],
    ['reply', 'refused', undefined],
    ['duplicate', 'refused', undefined],
    ['person', 'unknown', undefined],
    ['person', 'refused', 'as it is'],
    ['person', 'not-sent', 'as it is'],
  ])('of an order that is accepted by %s, where its outcome is %s: %s', (evidence, outcome, expected) => {
    const found = because(attemptsBench(), outcome, { state: 'accepted', evidence, unresolved: [] });
    expect(found).toBe(expected);
  });

  it('of an order that is not accepted is what the client says', () => {
    const bench = attemptsBench();
    expect(because(bench, 'refused', { state: 'refused', unresolved: [] })).toBe('as it is');
    expect(because(bench, 'unknown', { state: 'unknown', unresolved: ['a'] })).toBe('as it is');
    // A person has said so of another attempt.
    expect(because(bench, 'unknown', { state: 'abandoned', evidence: 'person' })).toBe('as it is');
  });

  it('is that the order was refused where the client does not know the status of a duplicate', () => {
    const refused = { state: 'refused', unresolved: [] } as const;
    expect(because(attemptsBench(), 'unknown', refused)).toMatchObject({
      ...{ code: 'order_refused', state: 'refused', cause: { outcome: 'unknown' } },
    });
  });

  it('is that the outcome is unknown while an earlier request may have acted', () => {
    for (const outcome of ['refused', 'not-sent'] as const)
      expect(because(attemptsBench(), outcome, { state: 'unknown', unresolved: ['b'] })).toMatchObject({
        ...{ code: 'outcome_unknown', state: 'unknown', cause: { outcome } },
      });
  });

  it.each([
    ['rate_limited', { notBefore: 1 }],
    ['waiting_for_keys', {}],
  ])('is %s where the order waits', (code, more) => {
    const failure = because(attemptsBench(), 'refused', { state: 'waiting', unresolved: [], ...more });
    expect(failure).toMatchObject({ code, state: 'waiting', cause: { outcome: 'refused' } });
  });
});
