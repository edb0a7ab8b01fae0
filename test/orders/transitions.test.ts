import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import type { OrderState } from '../../src/orders/order-state.ts';
import {
  type AttemptRules,
  beginAttempt,
  finishAttempt,
  hookCalled,
  type Intent,
  type OrderAttemptResult,
  observeEvent,
  prepareOrder,
  resumeAttempt,
  settleOrder,
  withReport,
} from '../../src/orders/transitions.ts';
import { thrownBy } from '../support/refusal.ts';

const now = 1_700_000_000_000;
const earlier = now - 10_000;

const intent: Intent = {
  partner_order_id: 'A-1',
  digest: 'same',
  merchant: undefined,
  ordered: { chain: 'usdt-trc20', salt: 'new' },
  partnerId: undefined,
};
const otherIntent = { ...intent, digest: 'other' };

/** What only records in each of these states have. */
const ofState: Partial<Record<OrderState, Partial<OrderRecord>>> = {
  sending: { attempt: 'a1', unresolved: ['a1'], leaseUntil: now + 1_000 },
  unknown: { unresolved: ['a1'] },
};

function recordIn(state: OrderState, more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{ version: 1, partner_order_id: 'A-1', digest: 'same', state, attempts: 1, unresolved: [] },
    ...{ createdAt: earlier, changedAt: earlier, openedAt: earlier, askedAt: earlier },
    ...{ revision: 1, ordered: intent.ordered },
    ...ofState[state],
    ...more,
  };
}

const sending = recordIn('sending');
const overdue = recordIn('sending', { leaseUntil: now });

/** A name of what happens: the code of the error, `unchanged`, or the new state. */
function outcomeOf(record: OrderRecord | undefined, change: () => OrderRecord): string {
  let after: OrderRecord;
  try {
    after = change();
  } catch (error) {
    return String(Object(error).code);
  }
  return after === record ? 'unchanged' : after.state;
}

const rules: AttemptRules = {
  ...{ attempt: 'a2', now, leaseMs: 5_000 },
  ...{ resendUnknown: false, again: false, replace: false },
};

type Requested = Record<'same' | 'again' | 'resend' | 'other' | 'replaced', string>;
const refusal = (code: string, more: Partial<Requested> = {}): Requested => ({
  ...{ same: code, again: code, resend: code, other: 'different_order', replaced: 'different_order' },
  ...more,
});
const unsent = refusal('sending', { replaced: 'sending' });

// As the guide says what to do with each answer.
const requests: [string, OrderRecord | undefined, Requested][] = [
  ['none', undefined, refusal('sending', { other: 'sending', replaced: 'sending' })],
  ['prepared', recordIn('prepared'), unsent],
  ['sending', sending, refusal('in_progress')],
  ['sending until now', overdue, refusal('outcome_unknown', { resend: 'sending' })],
  ['accepted', recordIn('accepted'), refusal('unchanged')],
  ['refused', recordIn('refused'), refusal('order_refused', { again: 'sending', replaced: 'sending' })],
  ['waiting', recordIn('waiting'), unsent],
  ['not-sent', recordIn('not-sent'), unsent],
  ['unknown', recordIn('unknown'), refusal('outcome_unknown', { resend: 'sending' })],
  ['abandoned', recordIn('abandoned'), refusal('order_abandoned')],
];

describe('a request for an order', () => {
  it.each(requests)('that is %s begins, or is refused for its reason', (_, record, expected) => {
    const begin = (given: Intent, more: Partial<AttemptRules> = {}) =>
      outcomeOf(record, () => beginAttempt(record, given, { ...rules, ...more }));
    expect({
      same: begin(intent),
      again: begin(intent, { again: true }),
      resend: begin(intent, { resendUnknown: true }),
      other: begin(otherIntent, { again: true, resendUnknown: true }),
      replaced: begin(otherIntent, { replace: true }),
    }).toEqual(expected);
  });

  it('writes the whole intent down, the lease and the attempt', () => {
    const named = {
      ...{ merchant: 'ngn', acceptAddress: 'Confirmed' },
      ...{ partnerId: 'P-1', partnerCode: 'acme', rotation: 'r-1' },
    };
    expect(beginAttempt(undefined, { ...intent, ...named }, rules)).toEqual({
      ...{ version: 1, partner_order_id: 'A-1', digest: 'same', state: 'sending', attempts: 1, revision: 0 },
      ...{ createdAt: now, changedAt: now, openedAt: now, askedAt: now },
      ...{ attempt: 'a2', unresolved: ['a2'], leaseUntil: now + 5_000 },
      ...{ ordered: intent.ordered, ...named },
    });
    // Members that the new intent lacks are those of another order.
    const replaced = beginAttempt(recordIn('refused', { ...named, ordered: { chain: 'old' } }), otherIntent, {
      ...rules,
      replace: true,
    });
    expect(replaced).toEqual({
      ...{ version: 1, partner_order_id: 'A-1', digest: 'other', state: 'sending', attempts: 2, revision: 1 },
      ...{ createdAt: earlier, changedAt: now, openedAt: now, askedAt: now },
      ...{ attempt: 'a2', unresolved: ['a2'], leaseUntil: now + 5_000 },
      ordered: intent.ordered,
    });
  });

  it('keeps the salt of the same order, its age, and the requests that may have acted', () => {
    const before = recordIn('unknown', { ordered: { chain: 'usdt-trc20', salt: 'old' }, handedOver: true });
    const after = beginAttempt(before, intent, { ...rules, resendUnknown: true });
    expect(after).toMatchObject({ ordered: { salt: 'old' }, openedAt: earlier, unresolved: ['a1', 'a2'] });
    expect(after).not.toHaveProperty('handedOver');
  });
});

describe('an order that is prepared', () => {
  const different = 'different_order';
  it.each<[string, OrderRecord | undefined, string, string, string]>([
    ['none', undefined, 'prepared', 'prepared', 'prepared'],
    ['prepared', recordIn('prepared'), 'unchanged', different, 'prepared'],
    ['handed over', recordIn('prepared', { handedOver: true }), 'prepared', different, 'prepared'],
    ['sending', sending, 'unchanged', different, different],
    ['sending until now', overdue, 'unchanged', different, different],
    ['accepted', recordIn('accepted'), 'unchanged', different, different],
    ['refused', recordIn('refused'), 'order_refused', different, 'prepared'],
    ['waiting', recordIn('waiting'), 'prepared', different, 'prepared'],
    ['not-sent', recordIn('not-sent'), 'prepared', different, 'prepared'],
    ['unknown', recordIn('unknown'), 'unchanged', different, different],
    ['abandoned', recordIn('abandoned'), 'order_abandoned', different, different],
  ])('while it is %s', (_, record, same, other, replaced) => {
    const prepare = (given: Intent, replace: boolean) =>
      outcomeOf(record, () => prepareOrder(record, given, { replace, now }));
    expect([
      prepare(intent, false),
      prepare(intent, true),
      prepare(otherIntent, false),
      prepare(otherIntent, true),
    ]).toEqual([same, same, other, replaced]);
  });

  it('goes out by itself, since it was asked for now', () => {
    for (const record of [undefined, recordIn('not-sent', { handedOver: true })]) {
      const prepared = prepareOrder(record, intent, { replace: false, now });
      expect(prepared).toMatchObject({ state: 'prepared', askedAt: now });
      expect(prepared).not.toHaveProperty('handedOver');
    }
  });
});

describe('an order that nobody asks for now', () => {
  const lease = { attempt: 'a2', now, leaseMs: 5_000 };
  const resume = (record: OrderRecord | undefined, given = intent, isDue = true) =>
    outcomeOf(record, () => resumeAttempt(record, given, { ...lease, isDue: () => isDue }));

  it('is sent if it is due and the same', () => {
    const record = recordIn('not-sent', { askedAt: earlier + 1 });
    expect([
      resume(record),
      resume(record, intent, false),
      resume(record, otherIntent, false),
      resume(undefined),
    ]).toEqual(['sending', 'unchanged', 'unchanged', 'order_not_found']);
    expect(resume(record, otherIntent)).toBe('different_order');
  });

  it('stays as old as it is', () => {
    const ages = [recordIn('not-sent', { askedAt: earlier + 1 }), recordIn('not-sent')].map(
      (record) => resumeAttempt(record, intent, { ...lease, isDue: () => true }).askedAt,
    );
    expect(ages).toEqual([earlier + 1, earlier]);
  });
});

describe('a result', () => {
  const accepted: OrderAttemptResult = { outcome: 'accepted', status: 201 };
  const failed = (
    outcome: Exclude<OrderAttemptResult['outcome'], 'accepted'>,
    more: object = {},
  ): OrderAttemptResult => ({
    ...{ outcome, failure: 'http_error', status: 422 },
    ...more,
  });
  const duplicate = failed('duplicate');
  const awaiting = failed('waiting');
  const limited = failed('waiting', { retryAfterMs: 2_000 });
  const two = { unresolved: ['a0', 'a1'] };
  const later = recordIn('sending', { attempt: 'a2', unresolved: ['a1', 'a2'] });
  const settledBy = (evidence: NonNullable<OrderRecord['evidence']>, more = {}) =>
    recordIn('accepted', { evidence, unresolved: ['a1'], ...more });

  it.each<[string, OrderRecord, OrderAttemptResult, object]>([
    ['2xx', sending, accepted, { state: 'accepted', evidence: 'reply', unresolved: [], status: 201 }],
    ['refusal', sending, failed('refused'), { state: 'refused', unresolved: [], failure: 'http_error' }],
    ['refusal under old keys', sending, awaiting, { state: 'waiting', unresolved: [] }],
    ['rate limit', sending, limited, { state: 'waiting', unresolved: [], notBefore: now + 2_000 }],
    [
      'rate limit for longer than a date can say',
      sending,
      failed('waiting', { retryAfterMs: Number.MAX_SAFE_INTEGER }),
      { state: 'waiting', notBefore: 8_640_000_000_000_000 },
    ],
    [
      'rate limit beside another request',
      recordIn('sending', two),
      limited,
      { state: 'unknown', unresolved: ['a0'] },
    ],
    ['request that was not sent', sending, failed('not-sent'), { state: 'not-sent', unresolved: [] }],
    ['loss', sending, failed('unknown'), { state: 'unknown', unresolved: ['a1'] }],
    ['duplicate of no request', sending, duplicate, { state: 'refused', unresolved: [] }],
    [
      'duplicate of another request',
      recordIn('sending', two),
      duplicate,
      { state: 'accepted', evidence: 'duplicate', unresolved: ['a0'], awaitingEventSince: now },
    ],
    [
      'refusal beside another request',
      recordIn('sending', two),
      failed('refused'),
      { state: 'unknown', unresolved: ['a0'] },
    ],
    ['late 2xx', recordIn('unknown'), accepted, { state: 'accepted', evidence: 'reply' }],
    ['late refusal', recordIn('unknown'), failed('refused'), { state: 'refused' }],
    [
      'late refusal beside a later request',
      later,
      failed('refused'),
      { state: 'sending', unresolved: ['a2'] },
    ],
    [
      '2xx of an order given up',
      recordIn('abandoned', { unresolved: ['a1'] }),
      accepted,
      { state: 'accepted', evidence: 'reply', contradiction: 'abandoned', awaitingEventSince: now },
    ],
    [
      'refusal of an order given up',
      recordIn('abandoned', { unresolved: ['a1'] }),
      failed('refused'),
      { state: 'abandoned', failure: 'http_error', unresolved: [] },
    ],
    [
      '2xx after an event',
      settledBy('event'),
      accepted,
      { state: 'accepted', evidence: 'event', status: 201 },
    ],
  ])('is written down: a %s', (_, record, result, expected) => {
    const after = finishAttempt(record, 'a1', result, now);
    expect(after).toMatchObject(expected);
    expect('leaseUntil' in after).toBe(after.state === 'sending');
    expect('contradiction' in after).toBe('contradiction' in expected);
    expect('notBefore' in after).toBe('notBefore' in expected);
  });

  it.each<[string, OrderRecord, OrderAttemptResult, string | undefined]>([
    ['a refusal after an event', settledBy('event'), failed('refused'), 'refused'],
    ['a refusal after a person', settledBy('person'), failed('refused'), 'refused'],
    ['never sent, after an event', settledBy('event'), failed('not-sent'), 'not-sent'],
    ['a loss', settledBy('event'), failed('unknown'), undefined],
    ['a loss, as before', settledBy('event', { contradiction: 'refused' }), failed('unknown'), 'refused'],
    ['a duplicate', settledBy('event'), duplicate, undefined],
    ['a refusal beside another request', settledBy('event', two), failed('refused'), undefined],
    ['a refusal after a reply', settledBy('reply'), failed('refused'), undefined],
    ['a refusal after a duplicate', settledBy('duplicate'), failed('refused'), undefined],
  ])(
    'contradicts what settled the order only if no other request made it: %s',
    (_, record, result, expected) => {
      const after = finishAttempt(record, 'a1', result, now);
      expect([after.state, after.failure, after.contradiction]).toEqual(['accepted', 'http_error', expected]);
    },
  );

  it('keeps the status of an earlier reply, if it has none', () => {
    const before = { ...sending, status: 503 };
    expect(finishAttempt(before, 'a1', failed('not-sent', { status: undefined }), now).status).toBe(503);
  });
});

describe('an event', () => {
  const seen = { name: 'event.buy.init', digest: 'd', body: {} };
  const observe = (record: OrderRecord) =>
    observeEvent(record, seen, { rejectMismatch: 'address', sameOrder: undefined, now }).record;

  it.each<[OrderState, OrderRecord['contradiction']]>([
    ['prepared', 'prepared'],
    ['sending', undefined],
    ['refused', 'refused'],
    ['waiting', 'refused'],
    ['not-sent', 'not-sent'],
    ['unknown', undefined],
    ['abandoned', 'abandoned'],
  ])('proves that the service has an order that is %s', (state, contradiction) => {
    const after = observe(recordIn(state));
    expect(after).toMatchObject({ state: 'accepted', evidence: 'event', changedAt: now });
    expect(after.contradiction).toBe(contradiction);
    for (const name of ['attempt', 'leaseUntil', 'awaitingEventSince'])
      expect(after).not.toHaveProperty(name);
  });

  it('ends the wait of an accepted order', () => {
    const before = recordIn('accepted', { evidence: 'reply', awaitingEventSince: earlier });
    const after = observe(before);
    expect(after).toMatchObject({ evidence: 'reply', changedAt: earlier });
    expect(after).not.toHaveProperty('awaitingEventSince');
  });
});

describe('a decision of a person', () => {
  const settle = (record: OrderRecord, decision: 'accepted' | 'abandoned', acceptedBefore?: number) =>
    outcomeOf(record, () => settleOrder(record, { decision, note: 'Asked.', now, acceptedBefore }));

  it.each<[string, OrderRecord, string, string]>([
    ['prepared', recordIn('prepared'), 'accepted', 'abandoned'],
    ['sending', sending, 'in_progress', 'in_progress'],
    ['sending until now', overdue, 'accepted', 'abandoned'],
    ['accepted', recordIn('accepted'), 'unchanged', 'already_settled'],
    ['refused', recordIn('refused'), 'already_settled', 'already_settled'],
    ['waiting', recordIn('waiting'), 'accepted', 'abandoned'],
    ['not-sent', recordIn('not-sent'), 'accepted', 'abandoned'],
    ['unknown', recordIn('unknown'), 'accepted', 'abandoned'],
    ['abandoned', recordIn('abandoned'), 'already_settled', 'unchanged'],
  ])('about an order that is %s', (_, record, accepted, abandoned) => {
    expect([settle(record, 'accepted'), settle(record, 'abandoned')]).toEqual([accepted, abandoned]);
  });

  it('about an accepted order counts once its first event is late', () => {
    const record = recordIn('accepted', { awaitingEventSince: earlier });
    expect(settle(record, 'abandoned', earlier - 1)).toBe('already_settled');
    expect(settle(record, 'abandoned', earlier)).toBe('abandoned');
    expect(
      settleOrder(record, { decision: 'accepted', note: 'Asked.', now, acceptedBefore: earlier }),
    ).toEqual({
      ...recordIn('accepted', { evidence: 'person', note: 'Asked.' }),
      changedAt: now,
    });
  });

  it('about differing events leaves the order as it is, and any other event in sight', () => {
    const differing = (digest: string) => ({
      ...{ name: 'n', at: earlier, digest },
      differences: [{ member: 'chain' as const }],
    });
    const [one, two, fitting] = [differing('d1'), differing('d2'), { name: 'm', at: earlier, digest: 'e' }];
    const before = recordIn('accepted', { attention: 'mismatch', events: [one, two, fitting] });
    const note = 'Looked at.';
    const decide = (of: OrderRecord, decision: 'accepted' | 'rejected' | 'abandoned', events?: string[]) =>
      settleOrder(of, { decision, note, events, now, acceptedBefore: undefined });
    const codeOf = (...given: Parameters<typeof decide>) => Object(thrownBy(() => decide(...given))).code;
    for (const decision of ['accepted', 'abandoned'] as const)
      expect(codeOf(before, decision)).toBe('undecided_events');
    for (const events of [['d3'], ['d1', 'd3'], ['e']])
      expect(codeOf(before, 'accepted', events)).toBe('event_not_found');
    expect(codeOf(recordIn('unknown'), 'rejected', ['d1'])).toBe('event_not_found');

    const first = decide(before, 'rejected', ['d1']);
    const rejected = { ...one, decision: { at: now, note, verdict: 'rejected' as const } };
    expect(first).toEqual({ ...before, events: [rejected, two, fitting] });
    expect(codeOf(first, 'accepted')).toBe('undecided_events');
    // The same decision again changes nothing, and no other one is possible.
    expect(decide(first, 'rejected', ['d1'])).toBe(first);
    expect(codeOf(first, 'accepted', ['d1', 'd2'])).toBe('already_settled');
    const accepted = { ...two, decision: { at: now, note, verdict: 'accepted' as const } };
    const last = recordIn('accepted', { events: [rejected, accepted, fitting] });
    expect(decide(first, 'accepted', ['d2'])).toEqual(last);
    expect(decide(last, 'accepted')).toBe(last);
    expect(codeOf(last, 'abandoned')).toBe('already_settled');
  });

  it('ends the lease of a process that died', () => {
    const settled = settleOrder(overdue, {
      decision: 'abandoned',
      note: 'x',
      now,
      acceptedBefore: undefined,
    });
    expect(settled).not.toHaveProperty('leaseUntil');
    expect(settled).not.toHaveProperty('attempt');
  });
});

describe('a change that the store has committed, although it reported a failure', () => {
  const result: OrderAttemptResult = { outcome: 'accepted', status: 200 };
  const settlement = { decision: 'abandoned', note: 'x', now, acceptedBefore: undefined } as const;
  it.each<[string, OrderRecord | undefined, (record: OrderRecord | undefined) => OrderRecord]>([
    ['a request', undefined, (record) => beginAttempt(record, intent, rules)],
    ['prepare', undefined, (record) => prepareOrder(record, intent, { replace: false, now })],
    [
      'a request of the loop',
      recordIn('not-sent'),
      (record) => resumeAttempt(record, intent, { ...rules, isDue: () => true }),
    ],
    ['a result', sending, (record) => finishAttempt(record ?? sending, 'a1', result, now)],
    ['a decision', recordIn('unknown'), (record) => settleOrder(record ?? overdue, settlement)],
  ])('is recognised when it runs again: %s', (_, record, change) => {
    const committed = change(record);
    expect(change(committed)).toBe(committed);
  });

  it('is not that of another request', () => {
    expect(
      thrownBy(() =>
        beginAttempt(beginAttempt(undefined, intent, rules), intent, { ...rules, attempt: 'a3' }),
      ),
    ).toMatchObject({ code: 'in_progress' });
  });
});

describe('onSettled', () => {
  it.each(['accepted', 'refused', 'abandoned'] as const)(
    'has to be called for an order that became %s',
    (state) => {
      const after = recordIn(state);
      const due = { ...after, unreported: true, claimedUntil: now };
      expect(withReport(recordIn('unknown'), after, now)).toEqual(due);
      expect(withReport(undefined, after, now)).toEqual(due);
      expect(withReport(recordIn(state), after, now)).toBe(after);
    },
  );

  it.each(['prepared', 'sending', 'waiting', 'not-sent', 'unknown'] as const)(
    'is not called for an order that became %s',
    (state) => {
      const after = recordIn(state);
      expect(withReport(recordIn('abandoned'), after, now)).toBe(after);
    },
  );

  it('is done with the state it was called for, and with no later one', () => {
    const then = recordIn('accepted', { unreported: true, claimedUntil: now });
    expect(hookCalled(then, then, 'report')).toEqual(recordIn('accepted'));
    const since = { ...then, state: 'abandoned' as const };
    expect(hookCalled(since, then, 'report')).toEqual(recordIn('abandoned', { unreported: true }));
  });
});

describe('onUnknown', () => {
  it('is done with an order until a caller asks for it again', () => {
    const then = recordIn('not-sent', { askedAt: earlier, claimedUntil: now });
    expect(hookCalled(then, then, 'hand-over')).toEqual(
      recordIn('not-sent', { askedAt: earlier, handedOver: true }),
    );
    const since = { ...then, askedAt: now };
    expect(hookCalled(since, then, 'hand-over')).toEqual(recordIn('not-sent', { askedAt: now }));
  });
});
