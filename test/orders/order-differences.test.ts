import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differencesFromOrder } from '../../src/orders/order-differences.ts';
import { buyInitBody } from '../support/bodies.ts';
import { order } from './service.ts';

describe('differencesFromOrder', () => {
  it('names what differs, and no address', () => {
    const event = buyInitBody({
      buyer_crypto_address: 'x',
      chain: 'y',
      fiat_currency: 'z',
      fiat_amount_to_pay: 1,
    });
    expect(differencesFromOrder(event, order)).toEqual([
      { member: 'buyer_crypto_address' },
      { member: 'chain', ordered: 'usdt-trc20', reported: 'y' },
      { member: 'fiat_currency', ordered: 'NGN', reported: 'z' },
      { member: 'fiat_amount', ordered: '15000.50', reported: '1' },
    ]);
  });

  it('finds nothing in what either side lacks', () => {
    for (const absent of [undefined, null, '', {}, []]) {
      expect(
        differencesFromOrder(
          { buyer_crypto_address: absent, chain: absent, fiat_amount_to_pay: absent },
          order,
        ),
      ).toEqual([]);
      expect(
        differencesFromOrder(buyInitBody(), {
          buyer_crypto_address: absent,
          chain: absent,
          fiat_currency: absent,
        }),
      ).toEqual([]);
    }
  });

  it.each(['buy.event.close', 'buy event close', 'BUY.EVENT.CLOSE'])(
    'compares no chain of %s',
    (event_name) => {
      expect(differencesFromOrder({ event_name, chain: 'eusd-mob' }, order)).toEqual([]);
    },
  );

  it('takes an EVM address in any case for the same, and no other address', () => {
    const [lower, upper] = [
      '0xb7c978b070509bfeefa71fc3c984775072f837df',
      '0xB7C978B070509BFEEFA71FC3C984775072F837DF',
    ];
    const same = (one: string, other: string) =>
      differencesFromOrder({ buyer_crypto_address: one }, { buyer_crypto_address: other }).length === 0;
    expect(same(lower, upper)).toBe(true);
    expect(same(order.buyer_crypto_address, order.buyer_crypto_address.toLowerCase())).toBe(false);
  });

  it('throws for no event, and finds nothing in an event that repeats its order', () => {
    const members = fc.record({
      buyer_crypto_address: fc.anything(),
      chain: fc.anything(),
      fiat_currency: fc.anything(),
      fiat_amount: fc.anything(),
    });
    fc.assert(
      fc.property(members, members, (one, other) => {
        expect(
          Array.isArray(differencesFromOrder({ ...one, fiat_amount_to_pay: one.fiat_amount }, other)),
        ).toBe(true);
        expect(differencesFromOrder({ ...one, fiat_amount_to_pay: one.fiat_amount }, one)).toEqual([]);
      }),
    );
  });
});
