import { expect, it } from 'vitest';
import { tether } from '../deployment/addresses/vectors.ts';
import { rejected } from '../support/refusal.ts';
import { bench, order } from './service.ts';

const refused = { ...order, buyer_crypto_address: tether };

it('an order whose address is refused is neither written down nor sent', async () => {
  const { journal, service } = bench();
  for (const act of [() => journal.create(refused), () => journal.prepare(refused)])
    expect(await rejected(act())).toMatchObject({ code: 'address_refused', outcome: 'not-sent' });
  expect(await journal.get(order.partner_order_id)).toBeUndefined();
  expect(service.requests).toEqual([]);
});

it('an order whose address a person accepts is sent, and the journal keeps the reason', async () => {
  const { journal, service } = bench();
  const acceptAddress = 'Our own treasury';
  const prepared = await journal.prepare(refused, { acceptAddress });
  expect(prepared).toMatchObject({ state: 'prepared', acceptAddress });
  const { order: created } = await journal.create(refused, { acceptAddress: 'Confirmed' });
  expect(created).toMatchObject({ state: 'accepted', acceptAddress: 'Confirmed' });
  expect(await journal.get(order.partner_order_id)).toEqual(created);
  expect(service.requests).toEqual([order.partner_order_id]);
});

it('the reason is a text of up to 1,000 characters', async () => {
  const { journal } = bench();
  for (const acceptAddress of ['', 'x'.repeat(1001)])
    expect(await rejected(journal.create(order, { acceptAddress }))).toMatchObject({
      code: 'invalid_option',
    });
});
