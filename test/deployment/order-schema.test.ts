import { describe, expect, it } from 'vitest';
import { type BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';

const order: BuyOrder = {
  partner_order_id: 'A-1',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/callback',
};
const needed = Object.keys(order);

function wrongMembers(value: unknown): string[] {
  const result = reportedBuyOrder.safeParse(value);
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));
}

describe('a reported buy order', () => {
  it('needs no more than the reported members without KYC', () => {
    expect(reportedBuyOrder.parse(order)).toEqual(order);
    expect(reportedBuyOrder.parse({ ...order, memo: 'x' })).toEqual({ ...order, memo: 'x' });
  });

  it.each(needed)('is refused without %s, and with an empty one, by its name', (name) => {
    expect(wrongMembers({ ...order, [name]: undefined })).toEqual([name]);
    expect(new Set(wrongMembers({ ...order, [name]: '' }))).toEqual(new Set([name]));
  });

  it.each(['1', '15000', '15000.5', '15000.50', '0.01', '007', '12345678901234567890.123456789'])(
    'takes the amount %s',
    (fiat_amount) => {
      expect(wrongMembers({ ...order, fiat_amount })).toEqual([]);
    },
  );

  it.each([15000, '0', '0.00', '-1', '1e3', '1,000', '1 ', '1\n', 'Infinity', '١٢', `1${'0'.repeat(40)}`])(
    'is refused with the amount %j',
    (fiat_amount) => {
      expect(new Set(wrongMembers({ ...order, fiat_amount }))).toEqual(new Set(['fiat_amount']));
    },
  );

  it('takes a decimal text alone for the markup fee', () => {
    for (const markup_fee of ['0', '1.5', '0.00']) expect(wrongMembers({ ...order, markup_fee })).toEqual([]);
    for (const markup_fee of [1.5, '-1', '1.5%', '', '1.5\n'])
      expect(wrongMembers({ ...order, markup_fee })).toEqual(['markup_fee']);
  });

  it.each(['callback', '/callback', 'ftp://partner.example', 'javascript:alert(1)'])(
    'is refused with the callback %s',
    (partner_callback_url) => {
      expect(wrongMembers({ ...order, partner_callback_url })).toEqual(['partner_callback_url']);
    },
  );
});

it('an order in a currency that is not in capitals is refused in words', () => {
  const problems = (fiat_currency: string) =>
    reportedBuyOrder.safeParse({ ...order, fiat_currency }).error?.issues.map(({ message }) => message) ?? [];
  for (const code of ['ngn', 'Ngn', 'nGN'])
    expect(problems(code)).toEqual(['must be in capitals, such as "NGN"']);
  // What is no code of three letters is left to the service.
  for (const code of ['NGN', 'usdt', 'naira', '₦']) expect(problems(code)).toEqual([]);
});
