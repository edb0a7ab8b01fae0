import { describe, expect, expectTypeOf, it } from 'vitest';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { type ParsedOrderEvent, parseOrderEvent } from '../../src/events/parse-order-event.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import {
  buyCloseBody,
  buyCreditedBody,
  buyFiatReceivedBody,
  buyInitBody,
  buyNoKycBody,
  buyThirdPartyErrorBody,
  buyThirdPartyPaymentBody,
} from '../support/bodies.ts';

const variants = [
  ['event.buy.init', buyInitBody],
  ['event.buy.received.fiat', buyFiatReceivedBody],
  ['event.buy.received.fiat_kyc_error without KYC', buyNoKycBody],
  ['event.buy.received.fiat_kyc_error by a third party', buyThirdPartyPaymentBody],
  ['event.buy.credited.crypto', buyCreditedBody],
  ['buy.event.close', buyCloseBody],
] as const;

/** A body with the member at a path changed, or taken out when there is no value. */
function changed(body: JsonObject, [name = '', inner]: string[], value?: JsonValue): JsonObject {
  if (inner !== undefined) {
    // Sound: the paths with an inner name lead through objects.
    return { ...body, [name]: changed(body[name] as JsonObject, [inner], value) };
  }
  const { [name]: _, ...rest } = body;
  return value === undefined ? rest : { ...rest, [name]: value };
}

function issuePaths(parsed: ParsedOrderEvent): string[] {
  return parsed.kind === 'nonconforming' ? parsed.issues.map(({ path }) => path.join('.')) : [];
}

describe('a published event is known', () => {
  it.each(variants)('%s', (_, makeBody) => {
    const body = makeBody();
    expect(parseOrderEvent(body)).toEqual({ kind: 'known', event: body, body, readings: [] });
  });

  it('and has its further members in the body', () => {
    const parsed = parseOrderEvent(buyInitBody({ note: 'kept' }));
    if (parsed.kind !== 'known') throw new Error('The body is not an event.');
    expect(parsed.body.note).toBe('kept');
    expectTypeOf(parsed.event).toEqualTypeOf<OrderEvent>();
  });

  it('before it is signed', () => {
    expect(parseOrderEvent(changed(buyInitBody(), ['signature'])).kind).toBe('known');
  });

  it.each([
    ['the crypto credited as Completed', buyCreditedBody({ crypto_payment_status: 'Completed' })],
    ['the crypto credited as COMPLETED', buyCreditedBody({ crypto_payment_status: 'COMPLETED' })],
    ['the KYC error THIRD_PARTY_ERROR', buyThirdPartyPaymentBody({ kyc_error_type: 'THIRD_PARTY_ERROR' })],
    ['a payment link', buyInitBody({ payment_link: 'https://pay.example/1' })],
    ['a close that leaves the order as it was', buyCloseBody({ crypto_payment_status: 'anything' })],
  ])('with %s', (_, body) => {
    expect(parseOrderEvent(body).kind).toBe('known');
  });

  it.each([
    ['a pair', { pair: 'KES/USDC' }],
    ['a chain', { chain: 'usdt-pol' }],
    ['a currency', { fiat_currency: 'GHS' }],
    ['empty KYC fields', { transactional_kyc: { email: '', phone: '', first_name: '', last_name: '' } }],
  ])('with %s that the contract does not list', (_, members) => {
    expect(parseOrderEvent(buyInitBody(members)).kind).toBe('known');
  });
});

const commonNames = Object.keys(buyFiatReceivedBody()).filter(
  (name) => !/^(?:event_name|signature)$/.test(name),
);

describe('an event.buy.third_party_error is known', () => {
  it('with everything that it brings', () => {
    const body = buyThirdPartyErrorBody({ reason: { deep: [1] }, partner_order_id: 'A-1', sender_name: 'X' });
    expect(parseOrderEvent(body)).toEqual({ kind: 'known', event: body, body, readings: [] });
  });

  it('with every common member', () => {
    const body = { ...buyFiatReceivedBody(), event_name: 'event.buy.third_party_error' };
    expect(parseOrderEvent(body).kind).toBe('known');
  });

  it.each(commonNames)('with null for %s', (name) => {
    expect(parseOrderEvent(buyThirdPartyErrorBody({ [name]: null })).kind).toBe('known');
  });

  it('unless a common member is of another type', () => {
    expect(issuePaths(parseOrderEvent(buyThirdPartyErrorBody({ pair: 5 })))).toEqual(['pair']);
  });
});

describe('unknown members survive', () => {
  it('at the top and in nested objects', () => {
    const body = buyCloseBody({ loyalty: { points: 3 } });
    const nested = changed(
      changed(body, ['meta_data', 'reason'], 'late'),
      ['payer_into_account', 'iban'],
      'x',
    );
    expect(parseOrderEvent(nested)).toEqual({ kind: 'known', event: nested, body: nested, readings: [] });
  });

  it.each(variants)('named __proto__ and constructor, and do no harm: %s', (_, makeBody) => {
    const hostile =
      '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1';
    const text = JSON.stringify(makeBody()).replace('{', `{${hostile},`);
    const parsed = parseOrderEvent(JSON.parse(text));
    expect(parsed.kind).toBe('known');
    expect(JSON.stringify(parsed.kind === 'known' && parsed.event)).toBe(text);
    expect('polluted' in {}).toBe(false);
  });

  it('named __proto__ without standing in for members that are missing', () => {
    const { pair: _, ...rest } = buyInitBody();
    const text = JSON.stringify(rest).replace('{', '{"__proto__":{"pair":"NGN/USDT"},');
    expect(issuePaths(parseOrderEvent(JSON.parse(text)))).toEqual(['pair']);
  });
});

describe('an event of another name is unknown', () => {
  it.each([
    'event.sell.init',
    'event.buy.error',
    'event.buy.close',
    'Event.Buy.Init',
    'event.buy.init ',
    'event buy.init',
    'Event buy init',
    'event\tbuy\tinit',
    'constructor',
    '',
  ])('%j, with its body as it came', (name) => {
    const body = { event_name: name, anything: [1] };
    const parsed = parseOrderEvent(body);
    expect(parsed).toEqual({ kind: 'unknown', name, body });
    expect(parsed.kind === 'unknown' && parsed.body).toBe(body);
  });
});

describe('an event that is not in its published form is nonconforming', () => {
  it('with all that is wrong, its name and its body', () => {
    const body = buyInitBody({ pair: 1, chain: null });
    const parsed = parseOrderEvent(body);
    expect(parsed).toMatchObject({ kind: 'nonconforming', name: 'event.buy.init' });
    expect(parsed.kind === 'nonconforming' && parsed.body).toBe(body);
    expect(issuePaths(parsed).toSorted()).toEqual(['chain', 'pair']);
  });

  it('without the value found', () => {
    const parsed = parseOrderEvent(
      buyCreditedBody({
        crypto_payment_status: 'value-secret',
        pair: ['value-secret'],
        fiat_payment_status: 'value-secret',
      }),
    );
    expect(parsed).toMatchObject({ kind: 'nonconforming' });
    expect(JSON.stringify(parsed.kind === 'nonconforming' && parsed.issues)).not.toContain('value-secret');
  });
});

describe('an object without an event name is nonconforming', () => {
  it.each([
    ['missing', {}],
    ['a number', { event_name: 1 }],
    ['null', { event_name: null }],
    ['a list of a known one', { event_name: ['event.buy.init'] }],
    ['inherited', Object.create({ event_name: 'event.buy.init' })],
    ['in a member named __proto__', JSON.parse('{"__proto__":{"event_name":"event.buy.init"}}')],
  ])('%s', (_, body) => {
    expect(parseOrderEvent(body)).toMatchObject({
      kind: 'nonconforming',
      name: '',
      issues: [{ path: ['event_name'] }],
    });
  });
});

describe('what is not an object is nonconforming and is not thrown at', () => {
  it.each([
    undefined,
    null,
    true,
    5,
    'event.buy.init',
    [],
    [{ event_name: 'event.buy.init' }],
    10n,
    Symbol('s'),
    () => 1,
  ])('%s', (value) => {
    expect(parseOrderEvent(value)).toMatchObject({
      kind: 'nonconforming',
      name: '',
      body: {},
      issues: [{ path: [] }],
    });
  });
});

describe('a word that the contract does not have', () => {
  it.each([
    ['a new KYC error', buyNoKycBody({ kyc_error_type: 'DOCUMENT_EXPIRED' })],
    ['a KYC error without an address', buyNoKycBody({ default_kyc_url: null })],
    ['a KYC error whose address is absent', changed(buyNoKycBody(), ['default_kyc_url'])],
    [
      'a third-party error with an address',
      buyThirdPartyPaymentBody({ default_kyc_url: 'https://x.example' }),
    ],
    ['PENDING beside a KYC error', buyNoKycBody({ crypto_payment_status: 'PENDING' })],
    ['PENDING fiat beside a KYC error', buyNoKycBody({ fiat_payment_status: 'PENDING' })],
    ['another status of a close', changed(buyCloseBody(), ['meta_data', 'status'], 'partially_refunded')],
  ])('is delivered where nobody acts on it: %s', (_, body) => {
    expect(parseOrderEvent(body)).toMatchObject({ kind: 'known', event: body });
  });

  const closed = [
    ['fiat received', buyFiatReceivedBody, 'event.buy.received.fiat', 'fiat_payment_status', 'PAID'],
    ['fiat received', buyFiatReceivedBody, 'event.buy.received.fiat', 'crypto_payment_status', 'STARTED'],
    ['credited', buyCreditedBody, 'event.buy.credited.crypto', 'fiat_payment_status', 'PAID'],
    ['credited', buyCreditedBody, 'event.buy.credited.crypto', 'crypto_payment_status', 'PAID'],
    ['init', buyInitBody, 'event.buy.init', 'crypto_payment_status', 'PENDING'],
  ] as const;

  it.each(closed)(
    'is read by no handler where money hangs on it, unless eventStatuses names it: %s',
    (...row) => {
      const [, makeBody, event, member, published] = row;
      const body = makeBody({ [member]: 'Settled-2' });
      expect(parseOrderEvent(body)).toMatchObject({ kind: 'nonconforming', issues: [{ path: [member] }] });
      const eventStatuses = { [event]: { [member]: ['Settled-2'] } };
      const parsed = parseOrderEvent(body, { eventStatuses });
      expect(parsed).toMatchObject({
        kind: 'known',
        event: { [member]: published },
        body: { [member]: 'Settled-2' },
        readings: [{ path: [member], found: 'Settled-2', readAs: published }],
      });
      for (const other of ['settled-2', 'Settled-2 ', 'SETTLED'])
        expect(parseOrderEvent(makeBody({ [member]: other }), { eventStatuses }).kind).toBe('nonconforming');
    },
  );

  it('is read in the event and the member alone that it is named for', () => {
    const eventStatuses = { 'event.buy.received.fiat': { crypto_payment_status: ['DONE'] } };
    for (const body of [
      buyFiatReceivedBody({ fiat_payment_status: 'DONE' }),
      buyCreditedBody({ crypto_payment_status: 'DONE' }),
    ])
      expect(parseOrderEvent(body, { eventStatuses }).kind).toBe('nonconforming');
  });
});
