import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AcceptedOrderReply } from '../../src/client/accepted-order-reply.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { PayerAccount } from '../../src/events/event-types.ts';
import { credentials, deploymentAt, order, schemaOf } from './clients.ts';

const account = { account_name: 'Acme Payments', account_number: '0123456789', bank_name: 'Guaranty' };

/** The reply to an order whose service answers 200 with a body. */
async function replyWith(body: unknown, schema = schemaOf((value) => ({ value }))) {
  const wireNames = { platform_order_ref: 'acme_order_ref' };
  const exchange = new ExchangeClient({
    deployment: deploymentAt('https://service.example', { wireNames, readOrderReply: () => 'accepted' }),
    credentials,
    fetch: async () => Response.json(body),
  });
  const { payer_into_account, payment_link, platform_order_ref } = await exchange.createOrder(order, {
    schema,
  });
  return { payer_into_account, payment_link, platform_order_ref };
}

describe('the reply to an order', () => {
  it.each([
    ['at the top', (members: object) => members],
    ['one object deeper', (members: object) => ({ success: true, data: members })],
  ])('says where to pay, and the reference under the wire name, %s', async (_, place) => {
    const body = place({ payer_into_account: account, payment_link: null, acme_order_ref: 'P-7' });
    expect(await replyWith(body)).toEqual({
      payer_into_account: account,
      payment_link: null,
      platform_order_ref: 'P-7',
    });
    expect(await replyWith(place({ payment_link: 'https://pay.example/7' }))).toEqual({
      payment_link: 'https://pay.example/7',
    });
  });

  it('says it whatever the schema of the call makes of the body', async () => {
    const schema = schemaOf(() => ({ value: 'read' }));
    expect(await replyWith({ payer_into_account: account }, schema)).toEqual({ payer_into_account: account });
  });

  it.each<[unknown, object]>([
    [null, {}],
    ['a text', {}],
    [[{ payer_into_account: account }], {}],
    [{ payer_into_account: null, payment_link: '', acme_order_ref: 7 }, {}],
    [{ payer_into_account: [account], payment_link: { href: 'x' }, acme_order_ref: null }, {}],
    [{ payer_into_account: { account_number: 123456789, bank_name: '' } }, {}],
    [
      { payer_into_account: { ...account, account_name: null, iban: 'X' } },
      { payer_into_account: { account_number: account.account_number, bank_name: account.bank_name } },
    ],
  ])('leaves out what is missing or has another form, and accepts the order: %j', async (body, members) => {
    expect(await replyWith(body)).toEqual(members);
  });

  it('is typed: each member can be missing', () => {
    expectTypeOf<AcceptedOrderReply['payer_into_account']>().toEqualTypeOf<
      Readonly<Partial<PayerAccount>> | undefined
    >();
    expectTypeOf<AcceptedOrderReply['payment_link']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<AcceptedOrderReply['platform_order_ref']>().toEqualTypeOf<string | undefined>();
  });
});
