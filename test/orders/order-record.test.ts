import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { orderError, orderMismatch, orderNotFound } from '../../src/orders/order-errors.ts';
import {
  isOverdue,
  isUnsettled,
  type OrderRecord,
  orderDigest,
  readRecord,
  stateAt,
  toJournaledOrder,
} from '../../src/orders/order-record.ts';
import { type OrderState, orderStates } from '../../src/orders/order-state.ts';
import { isAhead } from '../../src/store/lease.ts';
import { thrownBy } from '../support/refusal.ts';

const now = 1_700_000_000_000;
const minute = 60_000;

function record(more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{ version: 1, partner_order_id: 'A-1', digest: 'd', state: 'accepted', attempts: 1, unresolved: [] },
    ...{ createdAt: 1, openedAt: 2, askedAt: 2, changedAt: 3, revision: 0, ordered: {} },
    ...more,
  };
}

describe('the record of an order', () => {
  it.each<[string, unknown]>([
    ...[null, 'x', [], 7].map((value): [string, unknown] => [JSON.stringify(value), value]),
    ['no digest', { ...record(), digest: undefined }],
    ['attempts of another kind', { ...record(), unresolved: 1 }],
  ])('is none of ours with %s', (_, stored) => {
    // Sound: another program may have written anything.
    expect(thrownBy(() => readRecord(stored as never))).toMatchObject({
      ...{ name: 'StoreError', code: 'store_failed' },
      message: expect.stringMatching(
        /not in its form: another program.*Give the journal a prefix of its own/s,
      ),
    });
  });

  it('of a newer form is left alone, which is said of an order', () => {
    expect(thrownBy(() => readRecord({ version: 2 }))).toMatchObject({
      code: 'newer_format',
      message: expect.stringContaining('The record of an order is in the form of a newer version'),
    });
  });
});

describe('the state of an order', () => {
  it.each<[string, Partial<OrderRecord>, OrderState]>([
    ['before the end of its lease', { leaseUntil: now + 1 }, 'sending'],
    ['at the end of its lease', { leaseUntil: now }, 'unknown'],
    ['without a lease', {}, 'unknown'],
    ['begun up to a minute ahead', { leaseUntil: now + 1, changedAt: now + minute }, 'sending'],
    ['begun more than a minute ahead', { leaseUntil: now + 1, changedAt: now + minute + 1 }, 'unknown'],
  ])('that was sending, %s', (_, more, state) => {
    expect(stateAt(record({ state: 'sending', ...more }), now)).toBe(state);
    expect(stateAt(record({ state: 'waiting', ...more }), now)).toBe('waiting');
  });

  it('is open until it is accepted, refused or abandoned', () => {
    const open = orderStates.filter((state) => isUnsettled({ state }));
    expect(open).toEqual(['prepared', 'sending', 'waiting', 'not-sent', 'unknown']);
  });

  it('is overdue once it was accepted before a time, or far ahead of it', () => {
    const overdue = (awaitingEventSince: number | undefined, acceptedBefore: number | undefined) =>
      isOverdue({ awaitingEventSince }, { acceptedBefore, now });
    expect([overdue(5, 5), overdue(6, 5), overdue(now + minute + 1, 5)]).toEqual([true, false, true]);
    expect([overdue(undefined, 5), overdue(5, undefined), overdue(now + minute + 1, undefined)]).toEqual([
      ...[false, false, false],
    ]);
    expect([isAhead(now + minute, now), isAhead(now + minute + 1, now)]).toEqual([false, true]);
  });
});

describe('an order as the journal shows it', () => {
  it('has no member that is for the journal alone, or of a newer version', () => {
    const later = { later: 'x' };
    const shown = {
      ...{ partner_order_id: 'A-1', state: 'accepted', attempts: 1, createdAt: 1, changedAt: 3 },
      ...{ merchant: 'ngn', acceptAddress: 'Confirmed', status: 201, failure: 'timeout', evidence: 'reply' },
      ...{ awaitingEventSince: 3, note: 'Asked.' },
      ...{ contradiction: 'refused', attention: 'mismatch' },
    } as const;
    const hidden = {
      ...{ partnerId: 'P-1', partnerCode: 'acme', rotation: 'r', askedAt: 4, attempt: 'a', leaseUntil: now },
      ...{ unreported: true, handedOver: true, claimedUntil: 5, unresolved: ['a'] },
    } as const;
    const difference = { member: 'chain', ordered: 'a', reported: 'b' } as const;
    const decision = { at: 2, note: 'Right.', verdict: 'accepted' } as const;
    const event = { name: 'n', at: 1, digest: 'e' };
    const stored = {
      ...{ ...record(), ...shown, ...hidden },
      ...later,
      ordered: { chain: 'usdt-trc20', salt: 's', address: 'h', ...later },
      timeline: { seen: ['event.buy.init', 'event.later'], facts: { pair: ['NGN/USDT'] }, ...later },
      events: [
        {
          ...{ ...event, ...later },
          ...{ differences: [{ ...difference, ...later }], decision: { ...decision, ...later } },
        },
      ],
    } as unknown as OrderRecord;
    expect(toJournaledOrder(stored, now)).toStrictEqual({
      ...shown,
      revision: 0,
      ordered: { chain: 'usdt-trc20' },
      timeline: {
        ...{ partner_order_id: 'A-1', stage: 'initialised', seen: ['event.buy.init'] },
        ...{ facts: { pair: ['NGN/USDT'] }, flags: [] },
      },
      events: [
        {
          ...event,
          ...later,
          differences: [{ ...difference, ...later }],
          decision: { ...decision, ...later },
        },
      ],
    });
    expect(Object.keys(toJournaledOrder(record(), now)).sort()).toEqual([
      ...['attempts', 'changedAt', 'createdAt', 'ordered', 'partner_order_id', 'revision', 'state'],
    ]);
  });

  it('has the end of its lease while it is sending', () => {
    const sending = record({ state: 'sending', leaseUntil: now + 1 });
    expect(toJournaledOrder(sending, now)).toMatchObject({ state: 'sending', leaseUntil: now + 1 });
    const unknown = toJournaledOrder(sending, now + 1);
    expect(unknown.state).toBe('unknown');
    expect(unknown).not.toHaveProperty('leaseUntil');
  });
});

describe('an error about an order', () => {
  it('names the order, its state and the cause, in one line', () => {
    const cause = new Error('reset');
    const refused = record({ partner_order_id: 'A\n1', state: 'refused' });
    const error = orderError('order_refused', refused, { now, cause });
    expect(error).toMatchObject({ code: 'order_refused', partner_order_id: 'A\n1', state: 'refused', cause });
    expect(error.message).toMatch(/^Order "A\\n1" was refused by the service/);
    expect(error).not.toHaveProperty('retryAfterMs');
  });

  it.each([
    [1_001, 1_001, '2 s'],
    [0, 1, '1 s'],
    [undefined, 1, '1 s'],
  ])('says how long a request with a lease of %s ms may still take', (leaseMs, retryAfterMs, wait) => {
    const sending = record({ state: 'sending', ...(leaseMs !== undefined && { leaseUntil: now + leaseMs }) });
    const error = orderError('in_progress', sending, { now });
    expect(error.retryAfterMs).toBe(retryAfterMs);
    expect(error.message).toContain(`wait for the result, or ${wait} until`);
  });

  it.each([
    [now + 2_000, 2_000],
    [undefined, 0],
  ])('says how long the service wants no order until %s', (notBefore, retryAfterMs) => {
    const waiting = record({ state: 'waiting', ...(notBefore !== undefined && { notBefore }) });
    expect(orderError('rate_limited', waiting, { now }).retryAfterMs).toBe(retryAfterMs);
  });

  it('says of an event which members differ', () => {
    const differences = [{ member: 'chain' }, { member: 'fiat_amount' }] as const;
    const overdue = record({ state: 'sending', leaseUntil: now });
    const error = orderMismatch(overdue, { name: 'event\n', at: 1, digest: 'e', differences }, now);
    expect(error).toMatchObject({
      ...{ code: 'order_mismatch', partner_order_id: 'A-1', state: 'unknown' },
      ...{ assumptions: ['event-matches-order'] },
      message: expect.stringContaining(
        'The authentic event "event\\n" of order "A-1" is not about what was ordered (chain, fiat_amount).',
      ),
    });
  });

  it('names an order that the journal does not have', () => {
    expect(orderNotFound('A\n2')).toMatchObject({
      ...{ code: 'order_not_found', partner_order_id: 'A\n2', state: undefined },
      message: expect.stringContaining('Order "A\\n2" is not in the journal.'),
    });
  });
});

describe('the digest of an order', () => {
  const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
  it('is one of its merchant and its payload, in any order of its members', () => {
    expect(orderDigest({ b: 1, a: ['x'] }, 'ngn')).toBe(digestOf('["ngn",{"a":["x"],"b":1}]'));
    expect(orderDigest({ a: ['x'], b: 1 }, undefined)).toBe(digestOf('[null,{"a":["x"],"b":1}]'));
  });
});
