import { describe, expect, it } from 'vitest';
import { comparedAddress, differencesFrom } from '../../src/orders/order-differences.ts';
import { buyInitBody } from '../support/bodies.ts';
import { order } from './service.ts';

/** The texts of an order, as a journal compares an event with them. */
function differencesFromOrder(event: Parameters<typeof differencesFrom>[0], ordered: object) {
  const { buyer_crypto_address: address, ...others } = Object.fromEntries(
    Object.entries(ordered).filter(([, value]) => typeof value === 'string' && value !== ''),
  );
  const isAddress = (reported: string) =>
    address === undefined || comparedAddress(reported) === comparedAddress(address);
  return differencesFrom(event, { ...others, isAddress });
}

describe('the comparison of an event with its order', () => {
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

  it.each([
    ...['buy.event.close', 'buy event close', 'buy_event_close', 'BUY.EVENT.CLOSE'].map((name) => [name, 0]),
    ...[undefined, 7, ['buy.event.close'], 'buy.event.closed', 'a buy.event.close'].map((name) => [name, 1]),
  ])('compares the chain of every event but the close event: %j', (event_name, differences) => {
    expect(differencesFromOrder({ event_name, chain: 'eusd-mob' }, order)).toHaveLength(Number(differences));
  });

  it('takes an EVM address in any case for the same, and no other address', () => {
    const [lower, upper] = [
      '0xb7c978b070509bfeefa71fc3c984775072f837df',
      '0xB7C978B070509BFEEFA71FC3C984775072F837DF',
    ];
    const same = (one: string, other: string) =>
      differencesFromOrder({ buyer_crypto_address: one }, { buyer_crypto_address: other }).length === 0;
    expect(same(lower, upper)).toBe(true);
    expect(same(order.buyer_crypto_address, order.buyer_crypto_address.toLowerCase())).toBe(false);
    expect(same(`${lower}a`, `${upper}A`)).toBe(false);
    expect(same(`a${lower}`, `a${upper}`)).toBe(false);
  });

  it.each<[string, unknown, unknown, boolean]>([
    ['the same number in other digits', '15000.5', '15000.50', false],
    ['the same text as a number', '15000.50', 15000.5, false],
    ['another number', '15000.5', 15000, true],
    ['the same text of no number', 'many', 'many', false],
    ['other texts of no number', 'many', 'more', true],
    ['numbers beyond any', '1e999', '2e999', true],
    ['no number', '15000', [15000], false],
    ['an order of no text', 15000, 15001, false],
  ])('compares amounts by their value: %s', (_, fiat_amount, fiat_amount_to_pay, isDifferent) => {
    expect(differencesFromOrder({ fiat_amount_to_pay }, { fiat_amount })).toHaveLength(isDifferent ? 1 : 0);
  });

  it.each<[string, string, boolean]>([
    ['usdt-trc20', 'USDT_TRC 20', false],
    ['usdt--trc20', 'usdt\ttrc20', false],
    ['usdt-trc20', 'usdt.trc20', true],
    ['usdt-trc20', 'usdt-erc20', true],
  ])('compares the chains %j and %j without regard to spelling', (chain, reported, isDifferent) => {
    const expected = (member: string) => (isDifferent ? [{ member, ordered: chain, reported }] : []);
    expect(differencesFromOrder({ chain: reported }, { chain })).toEqual(expected('chain'));
    const currency = differencesFromOrder({ fiat_currency: reported }, { fiat_currency: chain });
    expect(currency).toEqual(expected('fiat_currency'));
  });

  it('quotes 100 characters of each side, and only what a store can hold', () => {
    const [ordered, reported] = ['a'.repeat(150), `\0${'b'.repeat(150)}`];
    expect(differencesFromOrder({ chain: reported }, { chain: ordered })).toEqual([
      { member: 'chain', ordered: 'a'.repeat(100), reported: `\ufffd${'b'.repeat(99)}` },
    ]);
  });
});
