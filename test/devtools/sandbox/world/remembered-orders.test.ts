import { expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { onboarded, order, place } from '../support.ts';

it('beyond maxRemembered the oldest order is forgotten, and its id may be used again, by one order', async () => {
  const sandbox = createSandbox({
    fetch: async () => new Response(),
    whitelist: 'off',
    maxRemembered: 2,
  });
  const credentials = await onboarded(sandbox);
  for (const partner_order_id of ['A', 'B', 'C', 'A'])
    expect((await place(sandbox, credentials, { ...order, partner_order_id })).status).toBe(200);
  expect(sandbox.orders.map(({ partner_order_id }) => partner_order_id)).toEqual(['C', 'A']);
  expect(() => sandbox.order('B')).toThrow('partner_order_id');
  expect(sandbox.order('A').state).toBe('created');
});
