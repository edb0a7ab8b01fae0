import { describe, expect, expectTypeOf, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { eventBody } from '../../../src/devtools/testing/event-body.ts';
import { orderEventNames } from '../../../src/events/event-names.ts';
import type { BuyCreditedEvent, BuyKycErrorEvent } from '../../../src/events/event-types.ts';
import { orderEvent } from '../../../src/events/order-event.ts';
import { parseOrderEvent } from '../../../src/events/parse-order-event.ts';
import type { JsonObject } from '../../../src/internal/json.ts';
import { refusal, thrownBy } from '../../support/refusal.ts';
import { onboarded, order, place } from '../sandbox/support.ts';

it.each(orderEventNames)(
  'eventBody of %s is a valid event, difficult, and the own of whoever asked',
  (name) => {
    const body = eventBody(name);
    const before = structuredClone(body);
    expect(body.event_name).toBe(name);
    expect(orderEvent.parse(body)).toEqual(body);
    expect(parseOrderEvent(body)).toMatchObject({ kind: 'known' });
    expect(body).not.toHaveProperty('signature');
    expect(JSON.stringify(body)).toMatch(/[^\0-\x7f].*\/|\/.*[^\0-\x7f]/);
    expect(body.fiat_amount_to_pay).toBe(15000.5);
    if (body.payer_into_account) body.payer_into_account.bank_name = 'changed';
    expect(eventBody(name)).toEqual(before);
    const ids = { partner_order_id: 'A-7', platform_order_ref: 'ref_7' };
    expect(eventBody(name, ids)).toEqual({ ...before, ...ids });
  },
);

describe('overrides', () => {
  it('are merged at every depth; undefined keeps the default, and null is a value', () => {
    const overrides = Object.freeze({ meta_data: Object.freeze({ fee: 0 }), payment_link: undefined });
    const sample = eventBody('buy.event.close');
    expect(eventBody('buy.event.close', overrides)).toEqual({
      ...sample,
      meta_data: { ...sample.meta_data, fee: 0 },
    });
    const body = eventBody('event.buy.third_party_error', { payer_into_account: null, pair: null });
    expect(body).toMatchObject({ payer_into_account: null, pair: null });
  });

  it.each(['THIRD_PARTY_PAYMENT', 'THIRD_PARTY_ERROR'] as const)(
    'of the KYC error bring along what belongs to %s',
    (kyc_error_type) => {
      const body = eventBody('event.buy.received.fiat_kyc_error', { kyc_error_type });
      expect(body).toMatchObject({ kyc_error_type, default_kyc_url: null });
      expect(body.sender_name).not.toBe(
        eventBody('event.buy.received.fiat_kyc_error', { kyc_error_type: 'NO_KYC' }).sender_name,
      );
      expect(orderEvent.safeParse(body).success).toBe(true);
    },
  );

  it('with a misspelt member do not compile, and are refused, with the right name', () => {
    expect(
      // @ts-expect-error misspelt
      String(thrownBy(() => eventBody('event.buy.init', { transactional_kyc: { phoen: '1' } }))),
    ).toContain('Did you mean "phone"?');
    const wrong = [
      // @ts-expect-error of another event
      () => eventBody('event.buy.init', { meta_data: { fee: 1 } }),
      // @ts-expect-error the first argument says it
      () => eventBody('event.buy.init', { event_name: 'buy.event.close' }),
      // @ts-expect-error signedDelivery adds it
      () => eventBody('event.buy.init', { signature: 'ab' }),
      // @ts-expect-error no object
      () => eventBody('event.buy.init', null),
      // @ts-expect-error no event
      () => eventBody('toString'),
    ];
    expect(wrong.map(refusal)).toEqual(wrong.map(() => 'ConfigurationError invalid_option'));
  });

  it('are narrowed by the name', () => {
    // Never run: what counts is what compiles.
    const types = () => {
      // @ts-expect-error the crediting event is paid
      eventBody('event.buy.credited.crypto', { fiat_payment_status: 'PENDING' });
      // @ts-expect-error a rate is text in the close event only
      eventBody('event.buy.init', { exchange_rate: '1' });
      eventBody('buy.event.close', { exchange_rate: '1', fiat_payment_status: 'REFUNDED' });
      eventBody('event.buy.received.fiat_kyc_error', { kyc_error_type: 'NEW', default_kyc_url: null });
    };
    expect(types).toBeTypeOf('function');
    expectTypeOf(eventBody('event.buy.credited.crypto')).toEqualTypeOf<BuyCreditedEvent>();
    expectTypeOf(eventBody('event.buy.received.fiat_kyc_error')).toEqualTypeOf<BuyKycErrorEvent>();
  });
});

it('eventBody has the members, the order of members and the statuses that the sandbox posts, for each event', async () => {
  const posted = new Map<string, JsonObject>();
  const sandbox = createSandbox({
    eventSpelling: 'compact',
    fetch: async (_, init) => {
      const event: JsonObject = JSON.parse(String(init?.body));
      posted.set(String(event.event_name), event);
      return new Response();
    },
  });
  const credentials = await onboarded(sandbox);
  await place(sandbox, credentials, order);
  await place(sandbox, credentials, { ...order, partner_order_id: 'A-2' });
  for (const step of ['third_party_error', 'no_kyc', 'refunded'] as const) await sandbox.advance('A-1', step);
  await sandbox.play('A-2', 'happy');
  expect(orderEventNames.map((name) => shape(eventBody(name)))).toEqual(
    orderEventNames.map((name) => shape(posted.get(name) ?? {})),
  );
});

/** The members of a body, those of its objects, and what the contract fixes of their values. */
function shape(event: object) {
  const { signature: _, ...body }: JsonObject = JSON.parse(JSON.stringify(event));
  const { event_name, fiat_payment_status, crypto_payment_status, kyc_error_type } = body;
  const types = Object.entries(body).map(([name, value]) => [
    name,
    value === null ? 'null' : typeof value === 'object' ? Object.keys(value) : typeof value,
  ]);
  return { event_name, fiat_payment_status, crypto_payment_status, kyc_error_type, types };
}
