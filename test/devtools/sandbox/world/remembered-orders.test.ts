import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { onboarded, order, place } from '../support.ts';

async function sandboxWith(options: SandboxOptions) {
  const sandbox = createSandbox({ fetch: async () => new Response(), whitelist: 'off', ...options });
  const credentials = await onboarded(sandbox);
  const create = async (...ids: string[]) => {
    for (const partner_order_id of ids) {
      expect((await place(sandbox, credentials, { ...order, partner_order_id })).status).toBe(200);
    }
  };
  return { sandbox, create, ids: () => sandbox.orders.map(({ partner_order_id }) => partner_order_id) };
}

describe('the orders of a sandbox', () => {
  it('beyond maxRemembered the order that was finished first is forgotten', async () => {
    const { sandbox, create, ids } = await sandboxWith({ maxRemembered: 3 });
    await create('A', 'B', 'C');
    await sandbox.play('C', 'refund');
    await sandbox.play('B', 'happy');
    await create('D');
    expect(ids()).toEqual(['A', 'B', 'D']);
    await create('E');
    expect(ids()).toEqual(['A', 'D', 'E']);
    expect(() => sandbox.order('B')).toThrow('partner_order_id');
  });

  it('the oldest is forgotten where none is finished, never the new one', async () => {
    const { create, ids } = await sandboxWith({ maxRemembered: 2 });
    await create('A', 'B', 'C', 'D');
    expect(ids()).toEqual(['C', 'D']);
    const { create: createOne, ids: onlyOne } = await sandboxWith({ maxRemembered: 1 });
    await createOne('A', 'B');
    expect(onlyOne()).toEqual(['B']);
  });

  it('an order that went on after its end is not forgotten before finished ones', async () => {
    const { sandbox, create, ids } = await sandboxWith({ maxRemembered: 2, orderTransitions: 'any' });
    await create('A', 'B');
    await sandbox.play('A', 'happy');
    await sandbox.play('B', 'happy');
    await sandbox.advance('A', 'no_kyc');
    await create('C');
    expect(ids()).toEqual(['A', 'C']);
  });

  it('an id that was forgotten may be used again, by one order', async () => {
    const { sandbox, create } = await sandboxWith({ maxRemembered: 1 });
    await create('A', 'B', 'A');
    expect(sandbox.order('A')).toMatchObject({ partner_order_id: 'A', state: 'created' });
  });
});
