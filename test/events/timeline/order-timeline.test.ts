import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { isValidationError } from '../../../src/errors/errors.ts';
import type { OrderEvent } from '../../../src/events/order-event.ts';
import {
  applyEvent,
  type EventParties,
  emptyTimeline,
  type OrderFlag,
  type OrderStage,
  type OrderTimeline,
  orderStages,
  raisedFlags,
} from '../../../src/events/order-timeline.ts';
import { parseOrderEvent } from '../../../src/events/parse-order-event.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import {
  buyCloseBody,
  buyCreditedBody,
  buyFiatReceivedBody,
  buyInitBody,
  buyNoKycBody,
  buyThirdPartyErrorBody,
  buyThirdPartyPaymentBody,
} from '../../support/bodies.ts';

const id = 'A-1001';

function event(body: JsonObject): OrderEvent {
  const parsed = parseOrderEvent(body);
  if (parsed.kind !== 'known') throw new Error(`The test's own event is ${parsed.kind}.`);
  return parsed.event;
}

function timelineOf(...bodies: JsonObject[]): OrderTimeline {
  return bodies.map(event).reduce((timeline, one) => applyEvent(timeline, one), emptyTimeline(id));
}

/** Any event of the order, with what an inconsistent service might vary. */
const anyBody = fc
  .tuple(
    fc.constantFrom(
      buyInitBody,
      buyFiatReceivedBody,
      buyNoKycBody,
      buyThirdPartyPaymentBody,
      buyThirdPartyErrorBody,
      buyCreditedBody,
      buyCloseBody,
    ),
    fc.record(
      {
        fiat_amount_to_pay: fc.oneof(
          fc.constantFrom(0, -0, 15000.5),
          fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        ),
        buyer_crypto_address: fc.oneof(fc.constantFrom('TX1', 'TX2'), fc.string()),
        platform_order_ref: fc.constantFrom('ref_7d41', 'ref_other'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([body, members]) => body(members));

/** The list, and one in any other order with any repetitions in which every element occurs. */
function withShuffle<Item>(lists: fc.Arbitrary<readonly Item[]>) {
  return lists.chain((list) =>
    fc
      .tuple(fc.constant(list), list.length === 0 ? fc.constant([]) : fc.array(fc.constantFrom(...list)))
      .chain(([items, repeats]) =>
        fc.tuple(
          fc.constant(items),
          fc.shuffledSubarray([...items, ...repeats], { minLength: items.length + repeats.length }),
        ),
      ),
  );
}

describe('any order of arrival with any repetitions', () => {
  it('ends whatever events there are in the same state, and in the same JSON', () => {
    fc.assert(
      fc.property(withShuffle(fc.array(anyBody, { maxLength: 25 })), ([inOrder, shuffled]) => {
        expect(timelineOf(...shuffled)).toStrictEqual(timelineOf(...inOrder));
        expect(JSON.stringify(timelineOf(...shuffled))).toBe(JSON.stringify(timelineOf(...inOrder)));
      }),
      { numRuns: 500 },
    );
  });

  const finalStages: ReadonlySet<OrderStage> = new Set(['credited', 'closed', 'contradictory']);

  it('never moves an order back, and a final stage only on to contradictory', () => {
    fc.assert(
      fc.property(fc.array(anyBody, { maxLength: 12 }), (bodies) => {
        let before = emptyTimeline(id);
        for (const body of bodies) {
          const after = applyEvent(before, event(body));
          expect(orderStages.indexOf(after.stage)).toBeGreaterThanOrEqual(orderStages.indexOf(before.stage));
          if (finalStages.has(before.stage)) expect([before.stage, 'contradictory']).toContain(after.stage);
          expect(after.flags.length).toBeGreaterThanOrEqual(before.flags.length);
          before = after;
        }
      }),
    );
  });
});

describe('the stage', () => {
  it.each<[OrderStage, JsonObject[]]>([
    ['expected', []],
    ['initialised', [buyInitBody()]],
    ['fiat_received', [buyInitBody(), buyFiatReceivedBody()]],
    ['fiat_received', [buyFiatReceivedBody(), buyInitBody()]],
    ['held', [buyFiatReceivedBody(), buyNoKycBody()]],
    ['held', [buyThirdPartyErrorBody()]],
    ['credited', [buyCreditedBody(), buyFiatReceivedBody(), buyInitBody()]],
    ['closed', [buyCloseBody(), buyNoKycBody()]],
    ['contradictory', [buyCloseBody(), buyCreditedBody()]],
    ['contradictory', [buyCreditedBody(), buyCloseBody(), buyInitBody()]],
  ])('is %s', (stage, bodies) => {
    expect(timelineOf(...bodies).stage).toBe(stage);
  });
});

describe('flags', () => {
  it('are none for an order that was held and then credited, in any order of arrival: that is its ordinary course', () => {
    for (const bodies of [
      [buyInitBody(), buyNoKycBody(), buyCreditedBody()],
      [buyCreditedBody(), buyNoKycBody()],
      [buyThirdPartyErrorBody(), buyCreditedBody()],
    ])
      expect(timelineOf(...bodies)).toMatchObject({ stage: 'credited', flags: [] });
  });

  it.each<[string, JsonObject[], OrderFlag[]]>([
    ['a credit after the close', [buyCloseBody(), buyCreditedBody()], [{ code: 'credited_and_closed' }]],
    [
      'another amount',
      [buyInitBody(), buyCreditedBody({ fiat_amount_to_pay: 1.5 })],
      [{ code: 'changed', member: 'fiat_amount_to_pay', values: [1.5, 15000.5] }],
    ],
    [
      'another address',
      [buyInitBody({ buyer_crypto_address: 'TB' }), buyFiatReceivedBody({ buyer_crypto_address: 'TA' })],
      [{ code: 'changed', member: 'buyer_crypto_address', values: ['TA', 'TB'] }],
    ],
    [
      'a second payment',
      [buyCreditedBody(), buyCreditedBody({ crypto_txn_hash: '0xother' })],
      [{ code: 'changed', member: 'crypto_txn_hash', values: ['0x9f2c4d', '0xother'] }],
    ],
    [
      'a second refund of another amount',
      [
        buyCloseBody(),
        buyCloseBody({
          meta_data: { status: 'refunded', message: '', refund_account: '', amount_refunded: '1', fee: 100 },
        }),
      ],
      [{ code: 'changed', member: 'amount_refunded', values: ['1', '14900.50'] }],
    ],
  ])('report %s', (_, bodies, flags) => {
    expect(timelineOf(...bodies).flags).toEqual(flags);
  });

  it('do not take the text of a rate, a hash that is not there yet or another spelling for a change', () => {
    const timeline = timelineOf(
      buyFiatReceivedBody(),
      buyThirdPartyPaymentBody(),
      buyThirdPartyPaymentBody({ kyc_error_type: 'THIRD_PARTY_ERROR' }),
      buyCloseBody({ exchange_rate: '1538.510' }),
    );
    expect(timeline.flags).toEqual([]);
    expect(timeline.facts).toMatchObject({
      exchange_rate: [1538.51],
      kyc_error_type: ['THIRD_PARTY_PAYMENT'],
    });
  });

  it('say once what one event has raised', () => {
    const before = timelineOf(buyInitBody(), buyCloseBody());
    const after = applyEvent(before, event(buyCreditedBody()));
    expect(raisedFlags(before, after)).toEqual([{ code: 'credited_and_closed' }]);
    expect(raisedFlags(after, applyEvent(after, event(buyCreditedBody())))).toEqual([]);
    const changed = applyEvent(after, event(buyInitBody({ chain: 'usdc-matic' })));
    expect(raisedFlags(after, changed)).toMatchObject([{ code: 'changed', member: 'chain' }]);
  });
});

describe('applyEvent', () => {
  it('gives the same object back for a repetition, and never changes what it is given', () => {
    const timeline = timelineOf(buyInitBody(), buyCreditedBody());
    const copy = structuredClone(timeline);
    expect(applyEvent(timeline, event(buyInitBody()))).toBe(timeline);
    applyEvent(timeline, event(buyCloseBody()));
    expect(timeline).toStrictEqual(copy);
  });

  it('refuses an event of another order', () => {
    const other = event(buyInitBody({ partner_order_id: 'A-2' }));
    expect(() => applyEvent(emptyTimeline(id), other)).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringContaining('another order') }),
    );
    expect(() => applyEvent(emptyTimeline(id), other)).toThrow(expect.toSatisfy(isValidationError));
  });

  it.each<[string, EventParties]>([
    ['the same ID', { owner: { partnerId: 'P-1' }, key: { partnerId: 'P-1', partnerCode: 'acme' } }],
    ['the same code', { owner: { partnerCode: 'acme' }, key: { partnerId: 'P-1', partnerCode: 'acme' } }],
    ['no names: there is only one partner', { owner: {}, key: {} }],
  ])('takes an event of the owner of the order: %s', (_, parties) => {
    expect(applyEvent(emptyTimeline(id), event(buyInitBody()), parties).stage).toBe('initialised');
  });

  it.each<[string, EventParties]>([
    ['another ID', { owner: { partnerId: 'P-1' }, key: { partnerId: 'P-2' } }],
    [
      'another ID with the same code',
      { owner: { partnerId: 'P-1', partnerCode: 'a' }, key: { partnerId: 'P-2', partnerCode: 'a' } },
    ],
    ['another code', { owner: { partnerCode: 'acme' }, key: { partnerCode: 'other' } }],
    ['a code that is the ID of the owner', { owner: { partnerId: 'P-1' }, key: { partnerCode: 'P-1' } }],
    ['a key without names', { owner: { partnerId: 'P-1' }, key: {} }],
    ['an owner without names', { owner: {}, key: { partnerId: 'P-2' } }],
  ])('refuses an event that another partner has signed: %s', (_, parties) => {
    const timeline = timelineOf(buyInitBody());
    const apply = () => applyEvent(timeline, event(buyCreditedBody()), parties);
    expect(apply).toThrow(expect.toSatisfy(isValidationError));
    expect(apply).toThrow('applyEvent: the event was signed by another partner than the owner of the order');
    expect(timeline.stage).toBe('initialised');
  });

  it.each([undefined, null])(
    'takes a third-party error whose order is %s for the order it is applied to',
    (none) => {
      const body = none === undefined ? {} : { partner_order_id: none };
      expect(timelineOf(buyInitBody(), buyThirdPartyErrorBody(body))).toMatchObject({
        partner_order_id: id,
        stage: 'held',
      });
    },
  );

  it('is typed: a reducer of events, with names that narrow', () => {
    expectTypeOf(applyEvent).toEqualTypeOf<
      (timeline: OrderTimeline, event: OrderEvent, parties?: EventParties) => OrderTimeline
    >();
    // @ts-expect-error the owner alone proves nothing: who signed the event belongs to it
    expect(() => applyEvent(timelineOf(), event(buyInitBody()), { owner: {} })).toThrow();
    // @ts-expect-error a timeline is read only
    timelineOf().stage = 'credited';
    // @ts-expect-error an unverified body is no event: parse it first
    expect(() => applyEvent(emptyTimeline(id), buyInitBody({ partner_order_id: 'A-2' }))).toThrow();
  });

  it('keeps its state small, whatever a service invents', () => {
    const bodies = Array.from({ length: 500 }, (_, index) => buyInitBody({ fiat_amount_to_pay: index }));
    const timeline = timelineOf(...bodies);
    expect(timeline.facts.fiat_amount_to_pay).toHaveLength(8);
    expect(timelineOf(...bodies.reverse())).toStrictEqual(timeline);
  });
});
