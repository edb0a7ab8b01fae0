import { describe, expect, expectTypeOf, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOrderStep } from '../../../src/devtools/sandbox/world/order-registry.ts';
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
  it('are merged at every depth', () => {
    const body = eventBody('buy.event.close', { meta_data: { fee: 0 }, transactional_kyc: { email: '' } });
    expect(body.meta_data).toEqual({ ...eventBody('buy.event.close').meta_data, fee: 0 });
    expect(body.transactional_kyc).toEqual({
      ...eventBody('buy.event.close').transactional_kyc,
      email: '',
    });
  });

  it('keep the default where they are undefined', () => {
    const body = eventBody('event.buy.init', { pair: undefined, payer_into_account: undefined });
    expect(body).toEqual(eventBody('event.buy.init'));
  });

  it('can be null where the event allows it', () => {
    const body = eventBody('event.buy.third_party_error', { payer_into_account: null, pair: null });
    expect(body).toMatchObject({ payer_into_account: null, pair: null });
  });

  it('are not changed', () => {
    const overrides = Object.freeze({ transactional_kyc: Object.freeze({ phone: '1' }) });
    eventBody('event.buy.init', overrides).transactional_kyc.phone = '2';
    expect(overrides.transactional_kyc.phone).toBe('1');
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
    const message = (act: () => unknown) => String(thrownBy(act));
    // @ts-expect-error misspelt
    expect(message(() => eventBody('event.buy.init', { partner_order: 'A' }))).toContain('partner_order_id');
    expect(
      // @ts-expect-error misspelt
      message(() => eventBody('event.buy.init', { transactional_kyc: { phoen: '1' } })),
    ).toContain('Did you mean "phone"?');
    // @ts-expect-error of another event
    expect(message(() => eventBody('event.buy.init', { meta_data: { fee: 1 } }))).toContain('meta_data');
    // @ts-expect-error the first argument says it
    expect(message(() => eventBody('event.buy.init', { event_name: 'buy.event.close' }))).toContain('name');
    // @ts-expect-error signedDelivery adds it
    expect(refusal(() => eventBody('event.buy.init', { signature: 'ab' }))).toBe(
      'ConfigurationError invalid_option',
    );
    // @ts-expect-error no object
    expect(refusal(() => eventBody('event.buy.init', null))).toBe('ConfigurationError invalid_option');
    // @ts-expect-error no event
    expect(refusal(() => eventBody('event.buy.int'))).toBe('ConfigurationError invalid_option');
    // @ts-expect-error no event either
    expect(refusal(() => eventBody('toString'))).toBe('ConfigurationError invalid_option');
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
  const steps: [SandboxOrderStep, object][] = [
    ['no_kyc', eventBody('event.buy.received.fiat_kyc_error')],
    [
      'third_party_payment',
      eventBody('event.buy.received.fiat_kyc_error', { kyc_error_type: 'THIRD_PARTY_PAYMENT' }),
    ],
    ['third_party_error', eventBody('event.buy.third_party_error')],
    ['fiat_received', eventBody('event.buy.received.fiat')],
    ['credited', eventBody('event.buy.credited.crypto')],
  ];
  const sandbox = createSandbox({
    fetch: async () => new Response(),
    eventSpelling: 'compact',
  });
  const credentials = await onboarded(sandbox);
  await place(sandbox, credentials, order);
  await place(sandbox, credentials, { ...order, partner_order_id: 'A-2' });
  await sandbox.idle();
  const posted: JsonObject[] = [];
  for (const [step] of steps) posted.push(JSON.parse((await sandbox.advance('A-1', step)).body));
  await sandbox.advance('A-2', 'fiat_received');
  posted.push(JSON.parse((await sandbox.advance('A-2', 'refunded')).body));
  posted.push(JSON.parse(sandbox.deliveries.at(0)?.body ?? ''));

  const built = [...steps.map(([, body]) => body), eventBody('buy.event.close'), eventBody('event.buy.init')];
  expect(built.map(shape)).toEqual(posted.map(shape));
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
