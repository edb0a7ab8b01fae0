import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../src/orders/order-findings.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';

const now = 1_700_000_000_000;
const hour = 3_600_000;
const [old, young] = [now - hour, now - hour + 1];

const init = 'event.buy.init';
const received = 'event.buy.received.fiat';
const credited = 'event.buy.credited.crypto';
const kycError = 'event.buy.received.fiat_kyc_error';
const close = 'buy.event.close';

function record(more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{ version: 1, partner_order_id: 'A-1', digest: 'd', state: 'accepted', attempts: 1, unresolved: [] },
    ...{ createdAt: 1, openedAt: 1, askedAt: 1, changedAt: old, revision: 0, ordered: {} },
    ...more,
  };
}

type Timeline = NonNullable<OrderRecord['timeline']>;
/** An order with these events in its timeline. */
const timed = (seen: Timeline['seen'], facts: Timeline['facts'] = {}, more: Partial<OrderRecord> = {}) =>
  record({ timeline: { seen, facts }, ...more });

/** Without the id, which is always the same, and what to do next. */
const found = (order: OrderRecord) =>
  [...findingsOf(order, { now, olderThanMs: hour })].map(({ partner_order_id, advice, ...rest }) => rest);

const settledWith = [init, received, credited] as const;
const happened = (name: string, more: object = {}) => ({ name, at: old, digest: `of ${name}`, ...more });

describe('an order of which nothing is wrong', () => {
  it.each<[string, OrderRecord]>([
    ['credited', timed(settledWith)],
    ['closed', timed([init, received, close])],
    ['accepted without any event', record()],
    ['refused', record({ state: 'refused' })],
    ['refused, although it has waited for an event', record({ state: 'refused', awaitingEventSince: old })],
  ])('is %s', (_, order) => {
    expect(found(order)).toEqual([]);
  });
});

describe('never_reported', () => {
  it('is an accepted order that has waited for its first event for long enough', () => {
    const waits = { evidence: 'reply', status: 201 } as const;
    expect(found(record({ ...waits, awaitingEventSince: old }))).toEqual([
      { kind: 'never_reported', since: old, evidence: { evidence: 'reply', status: 201 } },
    ]);
    expect(found(record({ ...waits, awaitingEventSince: young }))).toEqual([]);
    expect(found(record({ awaitingEventSince: old }))).toMatchObject([
      { evidence: { evidence: null, status: null } },
    ]);
  });
});

describe('stuck', () => {
  it.each(['prepared', 'sending', 'waiting', 'not-sent', 'unknown'] as const)(
    'is an order that is %s',
    (state) => {
      const lease = { leaseUntil: now + 1 };
      expect(found(record({ state, openedAt: old, ...lease }))).toEqual([
        { kind: 'stuck', since: old, evidence: { state } },
      ]);
      expect(found(record({ state, openedAt: young, ...lease }))).toEqual([]);
    },
  );

  it.each<[Timeline['seen'], string]>([
    [[init], 'initialised'],
    [[init, received], 'fiat_received'],
  ])('is an accepted order whose events are %j', (seen, stage) => {
    const events = [happened(init, { at: old - 2 }), happened(received, { at: old - 1 })];
    expect(found(timed(seen, {}, { changedAt: 5, events }))).toEqual([
      { kind: 'stuck', since: old - 1, evidence: { stage } },
    ]);
    expect(found(timed(seen, {}, { events }))).toMatchObject([{ since: old }]);
    expect(found(timed(seen, {}, { changedAt: 5, events: [happened(init, { at: young })] }))).toEqual([]);
  });
});

describe('held', () => {
  it('is an order whose last event is a KYC error, with all its reasons', () => {
    const seen = [init, received, kycError] as const;
    expect(found(timed(seen, { kyc_error_type: ['LIMIT', 'NAME'] }))).toEqual([
      { kind: 'held', since: old, evidence: { kyc_error_type: ['LIMIT', 'NAME'], seen } },
    ]);
    expect(found(timed(seen))).toMatchObject([{ evidence: { kyc_error_type: [] } }]);
    expect(found(timed(seen, {}, { changedAt: young }))).toEqual([]);
  });
});

describe('mismatch and amount_differs', () => {
  const chain = { member: 'chain', ordered: 'a', reported: 'b' };
  const address = { member: 'buyer_crypto_address' };
  const amount = { member: 'fiat_amount', ordered: '1', reported: '2' };

  it('are events that differ, each with what it is about', () => {
    const events = [
      happened('fits'),
      happened('first', { at: 7, differences: [amount, chain] }),
      happened('second', { at: 8, differences: [address] }),
      happened('third', { at: 9, differences: [amount] }),
    ] as NonNullable<OrderRecord['events']>;
    const shown = (name: string, ...differences: object[]) => ({ name, digest: `of ${name}`, differences });
    expect(found(timed(settledWith, {}, { events }))).toEqual([
      {
        ...{ kind: 'mismatch', since: 7 },
        evidence: { events: [shown('first', chain), shown('second', address)] },
      },
      {
        ...{ kind: 'amount_differs', since: 7 },
        evidence: { events: [shown('first', amount), shown('third', amount)] },
      },
    ]);
  });

  it('are none once a person has decided', () => {
    const decision = { at: now, note: 'It is right.' };
    const events = [happened('first', { differences: [chain, amount], decision })] as NonNullable<
      OrderRecord['events']
    >;
    expect(found(timed(settledWith, {}, { events }))).toEqual([]);
  });
});

describe('credited_and_closed', () => {
  it('is an order that was credited and refunded', () => {
    const seen = [...settledWith, close] as const;
    expect(found(timed(seen))).toEqual([{ kind: 'credited_and_closed', since: old, evidence: { seen } }]);
  });
});
