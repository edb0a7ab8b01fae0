import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventBody } from '../../src/devtools/testing/event-body.ts';
import { effectKey } from '../../src/events/effect-key.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { codePoint } from '../support/any-text.ts';

function eventOf(name: OrderEvent['event_name'], members: object): OrderEvent {
  const parsed = parseOrderEvent({ ...eventBody(name), ...members });
  return parsed.kind === 'known' ? parsed.event : expect.unreachable(name);
}

const credited = (members: object) => eventOf('event.buy.credited.crypto', members);

describe('effectKey', () => {
  it('is the order and the step', () => {
    expect(effectKey(credited({ partner_order_id: 'A-1001' }))).toBe('A-1001/event.buy.credited.crypto');
  });

  it('has the partner of the context first: its ID, or else its code', () => {
    const event = credited({ partner_order_id: 'A-1' });
    const key = (names: object) => effectKey(event, { key: { ...names } });
    expect(key({ partnerId: 'P-1', partnerCode: 'acme' })).toBe('id=P-1/A-1/event.buy.credited.crypto');
    expect(key({ partnerCode: 'acme' })).toBe('code=acme/A-1/event.buy.credited.crypto');
    expect(key({})).toBe(effectKey(event));
  });

  it('is one for two authentic texts about one credit', () => {
    const keys = ['PAID', 'Completed', 'COMPLETED'].map((crypto_payment_status) =>
      effectKey(
        credited({
          partner_order_id: 'A-1',
          crypto_payment_status,
          platform_order_ref: crypto_payment_status,
        }),
      ),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('tells the kinds of a KYC error apart, and takes both spellings of the third-party error for one', () => {
    const keyOf = (kyc_error_type: string, default_kyc_url: string | null) =>
      effectKey(
        eventOf('event.buy.received.fiat_kyc_error', {
          partner_order_id: 'A-1',
          kyc_error_type,
          default_kyc_url,
        }),
      );
    expect(keyOf('NO_KYC', 'https://kyc.example/')).toBe('A-1/event.buy.received.fiat_kyc_error/NO_KYC');
    const thirdParty = 'A-1/event.buy.received.fiat_kyc_error/THIRD_PARTY_PAYMENT';
    expect(keyOf('THIRD_PARTY_PAYMENT', null)).toBe(thirdParty);
    expect(keyOf('THIRD_PARTY_ERROR', null)).toBe(thirdParty);
  });

  it('tells a close that is no refund from the refund, in printable ASCII', () => {
    const keyOf = (status: string) =>
      effectKey(
        eventOf('buy.event.close', {
          partner_order_id: 'A-1',
          meta_data: { ...eventBody('buy.event.close').meta_data, status },
        }),
      );
    expect(keyOf('refunded')).toBe('A-1/buy.event.close');
    expect(keyOf('REFUNDED')).toBe('A-1/buy.event.close');
    expect(keyOf('refund pending')).toBe('A-1/buy.event.close/refund%0020pending');
    const kyc = { partner_order_id: 'A-1', kyc_error_type: 'ID/é' };
    expect(effectKey(eventOf('event.buy.received.fiat_kyc_error', kyc))).toBe(
      'A-1/event.buy.received.fiat_kyc_error/ID%002f%00e9',
    );
  });

  it.each([[undefined], [null], ['']])('is undefined without an order id (%j)', (partner_order_id) => {
    const event = { ...eventBody('event.buy.third_party_error'), partner_order_id };
    expect(effectKey(Object(event))).toBeUndefined();
  });

  it('takes no order id for a partner', () => {
    const one = effectKey(credited({ partner_order_id: 'A' }), { key: { partnerId: 'P' } });
    for (const partner_order_id of ['id=P/A', 'P/A', 'id=P', 'A/event.buy.credited.crypto']) {
      expect(effectKey(credited({ partner_order_id }))).not.toBe(one);
    }
    const code = effectKey(credited({ partner_order_id: 'A' }), { key: { partnerCode: 'P' } });
    expect(code).not.toBe(one);
  });

  it('never gives two orders, partners or steps one key, and is printable ASCII', () => {
    const part = fc.oneof(
      fc.string({ minLength: 1, unit: codePoint }),
      fc.string({
        minLength: 1,
        unit: fc.constantFrom('/', '=', '%', 'i', 'd', '0', '2', 'f', 'é', '\ud800'),
      }),
    );
    const triple = fc.record(
      {
        partner: fc.record({ partnerId: part, partnerCode: part }, { requiredKeys: [] }),
        order: part,
        name: fc.constantFrom(...orderEventNames),
      },
      { requiredKeys: ['partner', 'order', 'name'] },
    );
    fc.assert(
      fc.property(triple, triple, (one, other) => {
        const keyOf = ({ partner, order, name }: typeof one) =>
          effectKey(Object({ ...eventBody(name), partner_order_id: order }), { key: partner }) ?? '';
        const meant = ({ partner: { partnerId, partnerCode }, order, name }: typeof one) =>
          JSON.stringify([partnerId ?? null, partnerId === undefined ? partnerCode : null, order, name]);
        expect(keyOf(one)).toMatch(/^[\x21-\x7e]+$/);
        expect(keyOf(one) === keyOf(other)).toBe(meant(one) === meant(other));
      }),
    );
  });
});
