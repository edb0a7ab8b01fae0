import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import type { AcceptedOrderReply } from '../../src/client/accepted-order-reply.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { MessengerClient } from '../../src/client/messenger-client.ts';
import type { Reply } from '../../src/client/reply.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import type { OrderEvent } from '../../src/events/order-event.ts';

/*
 * What must not compile, and what it has to be instead. Nothing here runs: `tsc` is what judges it, and an
 * `@ts-expect-error` without an error is one itself.
 */
declare const order: BuyOrder;
declare const event: OrderEvent;
declare const exchange: ExchangeClient;
declare const messenger: MessengerClient;
const receipt = z.object({ id: z.number() });

describe('does not compile', () => {
  it('a misspelt member of an event', () => {
    // @ts-expect-error it is crypto_txn_hash
    expectTypeOf(() => event.crypto_tx_hash).toBeFunction();
    expectTypeOf(() => event.crypto_txn_hash).returns.toEqualTypeOf<string | null | undefined>();
  });

  it('a misspelt member of an order', () => {
    // @ts-expect-error it is buyer_email
    expectTypeOf(() => exchange.createOrder({ ...order, buyer_mail: 'a@b.example' })).toBeFunction();
    expectTypeOf(() => exchange.createOrder({ ...order, buyer_email: 'a@b.example' })).toBeFunction();
  });

  it('a type for a reply that no schema has checked', () => {
    // @ts-expect-error the type of the body comes from a schema
    expectTypeOf(() => exchange.createOrder<{ id: number }>(order)).toBeFunction();
    // @ts-expect-error the type of the body comes from a schema
    expectTypeOf(() => exchange.whitelistIp<string>()).toBeFunction();
    // @ts-expect-error the type of the body comes from a schema
    expectTypeOf(() => messenger.checkNumber<string>({ to_phone: '1' })).toBeFunction();
    // @ts-expect-error the type of the body comes from a schema
    expectTypeOf(async () => (await exchange.prepareOrder(order)).send<{ id: number }>()).toBeFunction();
    // @ts-expect-error the type of the body is not taken from the variable
    expectTypeOf(async (): Promise<Reply<string>> => exchange.whitelistIp()).toBeFunction();
    // @ts-expect-error the schema makes something else
    expectTypeOf(() => exchange.createOrder<string>(order, { schema: receipt })).toBeFunction();
  });
});

describe('the body of a reply', () => {
  it('is unknown without a schema, for every call', () => {
    const calls = {
      onboard: () => exchange.onboard({ email: '', partner_code: '' }),
      whitelistIp: () => exchange.whitelistIp(),
      regenerateKeys: () => exchange.regenerateKeys({ email: '' }, { timeoutMs: 5_000 }),
      createOrder: () => exchange.createOrder(order, { merchant: 'NGN' }),
      generateApiKey: () => messenger.generateApiKey({ messenger_device_no: '' }),
      checkNumber: () => messenger.checkNumber({ to_phone: '' }),
      sendMessage: () => messenger.sendMessage({ to_phone: '', message: '' }),
    };
    const { createOrder, ...others } = calls;
    expectTypeOf(others).toEqualTypeOf<Record<keyof typeof others, () => Promise<Reply<unknown>>>>();
    expectTypeOf(createOrder).returns.resolves.toEqualTypeOf<AcceptedOrderReply<unknown>>();
  });

  it('is what the schema makes of it, for every call', () => {
    const options = { schema: receipt };
    const calls = {
      onboard: () => exchange.onboard({ email: '', partner_code: '' }, options),
      whitelistIp: () => exchange.whitelistIp(options),
      regenerateKeys: () => exchange.regenerateKeys({ email: '' }, options),
      createOrder: () => exchange.createOrder(order, { merchant: 'NGN', ...options }),
      generateApiKey: () => messenger.generateApiKey({ messenger_device_no: '' }, options),
      checkNumber: () => messenger.checkNumber({ to_phone: '' }, options),
      sendMessage: () => messenger.sendMessage({ to_phone: '', message: '' }, options),
    };
    const { createOrder, ...others } = calls;
    expectTypeOf(others).toEqualTypeOf<Record<keyof typeof others, () => Promise<Reply<{ id: number }>>>>();
    expectTypeOf(createOrder).returns.resolves.toEqualTypeOf<AcceptedOrderReply<{ id: number }>>();
  });
});

it('a client is typed by its orders, not by a schema', () => {
  const client = new ExchangeClient({ deployment: defineDeployment({}) });
  expectTypeOf(client).toEqualTypeOf<ExchangeClient<BuyOrder>>();
  expectTypeOf<z.input<typeof reportedBuyOrder>>().toEqualTypeOf<BuyOrder>();
  expect(client).toBeInstanceOf(ExchangeClient);
});
