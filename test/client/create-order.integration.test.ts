import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import type { BuyOrder } from '../../src/deployment/order-schema.ts';
import type { StandardSchema } from '../../src/deployment/standard-schema.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex } from '../support/bodies.ts';
import { type LocalServer, startServer } from '../support/local-server.ts';
import { rejected } from '../support/refusal.ts';
import { credentials, deploymentAt, exchangeAt, order, schemaOf } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const orderKey = credentials.merchantSecretKey + credentials.partnerSecretKey;

describe('createOrder on the wire', () => {
  it('is signed with the merchant and the partner secret over the bytes that arrive', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).createOrder(order);
    const { value, text } = verifyBody(bytesOf(server), { key: orderKey });
    expect(text).toBe(JSON.stringify(order));
    expect(value.signature).toBe(hmacHex(text, orderKey));
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/api/v1/no-auth/PartnerP2P/CreateOrder/',
        headers: { authorization: 'Bearer pk_partner_4f1d20', 'content-type': 'application/json' },
      },
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty('x-partner-id');
  });

  it('sends exactly the signed text, with its length and not in chunks', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).createOrder({ ...order, first_name: 'Adéọlá 🚀 / "A"' });
    const bytes = bytesOf(server);
    const unsigned = JSON.stringify({ ...order, first_name: 'Adéọlá 🚀 / "A"' });
    const expected = `${unsigned.slice(0, -1)},"signature":"${hmacHex(unsigned, orderKey)}"}`;
    expect(bytes.toString('utf8')).toBe(expected);
    expect(server.requests[0]?.headers['content-length']).toBe(String(bytes.byteLength));
    expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('is signed as the deployment says', async () => {
    const server = await startServer({});
    const signature = {
      construction: 'hash-prefix',
      serialization: 'sorted',
      encoding: 'hex-upper',
    } as const;
    const deployment = deploymentAt(server.url, { signature });
    await new ExchangeClient({ deployment, credentials }).createOrder(order);
    expect(verifyBody(bytesOf(server), { key: orderKey, scheme: signature }).value).toMatchObject(order);
  });

  it('carries x-partner-id where the partner ID is known', async () => {
    const server = await startServer({});
    const withId = { ...credentials, partnerId: 'P-77' };
    await new ExchangeClient({ deployment: deploymentAt(server.url), credentials: withId }).createOrder(
      order,
    );
    expect(server.requests[0]?.headers['x-partner-id']).toBe('P-77');
  });

  it("puts platform_merchant_id under the deployment's name, in its place, before signing", async () => {
    const server = await startServer({});
    const deployment = deploymentAt(server.url, { wireNames: { platform_merchant_id: 'acme_merchant' } });
    await new ExchangeClient({ deployment, credentials }).createOrder({
      platform_merchant_id: 'm-1',
      ...order,
    });
    const { value, text } = verifyBody(bytesOf(server), { key: orderKey });
    expect(value).toMatchObject({ acme_merchant: 'm-1' });
    expect(text).toContain('"acme_merchant":"m-1"');
    expect(text).not.toContain('platform_merchant_id');
  });

  it('sends members it does not know as given, and leaves out those that are undefined', async () => {
    const server = await startServer({});
    const input = {
      ...order,
      channel: { kind: 'bank', limits: [1, 2.5, null] },
      refund_bank: undefined,
    };
    await exchangeAt(server.url).createOrder(input);
    const { value } = verifyBody(bytesOf(server), { key: orderKey });
    expect(value).toMatchObject({ channel: { kind: 'bank', limits: [1, 2.5, null] } });
    expect(value).not.toHaveProperty('refund_bank');
  });
});

describe('an order that does not fit', () => {
  it.each<[string, Record<string, unknown>]>([['channel.when', { channel: { when: new Date(0) } }]])(
    'names %s when it is %j, and makes no request',
    async (member, change) => {
      const server = await startServer({});
      // What a JavaScript caller may pass.
      const input = { ...order, ...change } as BuyOrder;
      const error = await rejected(exchangeAt(server.url).createOrder(input));
      expect(error).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
      expect(String(error)).toContain(`createOrder: ${member}: `);
      expect(server.requests).toHaveLength(0);
    },
  );

  it.each([undefined, null, 'order', [order]])('refuses %j for an order', async (input) => {
    const server = await startServer({});
    // What a JavaScript caller may pass.
    const call = exchangeAt(server.url).createOrder(input as unknown as BuyOrder);
    expect(await rejected(call)).toMatchObject({ code: 'invalid_input', issues: [{ path: [] }] });
    expect(server.requests).toHaveLength(0);
  });
});

describe("a deployment's own order schema", () => {
  const collection = z.object({
    partner_order_id: z.string(),
    amount_to_collect: z.string(),
    order_expiration: z.date().transform((date) => date.getTime()),
  });

  it('types what createOrder takes', async () => {
    const server = await startServer({});
    const client = clientWith(server, collection);
    expectTypeOf(client.createOrder).parameter(0).toEqualTypeOf<{
      partner_order_id: string;
      amount_to_collect: string;
      order_expiration: Date;
    }>();
    await client.createOrder({
      partner_order_id: 'A-1',
      amount_to_collect: '100',
      order_expiration: new Date(1_700_000_000_000),
    });
    expect(verifyBody(bytesOf(server), { key: orderKey }).value).toMatchObject({
      order_expiration: 1_700_000_000_000,
    });
  });

  it('may be any Standard Schema, asynchronous and transforming', async () => {
    const server = await startServer({});
    const schema = schemaOf<{ ref: string; total: number }, { order_ref: string; total: string }>(
      async (value) => {
        await Promise.resolve();
        const { ref, total } = z.object({ ref: z.string(), total: z.number() }).parse(value);
        return { value: { order_ref: ref, total: total.toFixed(2) } };
      },
    );
    const client = clientWith(server, schema);
    expectTypeOf(client.createOrder).parameter(0).toEqualTypeOf<{ ref: string; total: number }>();
    await client.createOrder({ ref: 'A-1', total: 7 });
    expect(verifyBody(bytesOf(server), { key: orderKey }).text).toBe('{"order_ref":"A-1","total":"7.00"}');
  });

  it.each<[string, unknown]>([
    ['a list', [order]],
    ['text', 'order'],
    ['nothing', null],
    ['a date in it', { at: new Date(0) }],
    ['NaN in it', { amount: Number.NaN }],
  ])('may not make %s of the order', async (_, value) => {
    const server = await startServer({});
    const error = await rejected(
      clientWith(
        server,
        schemaOf(() => ({ value })),
      ).createOrder({}),
    );
    expect(error).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('several merchants', () => {
  const { partnerPublicKey, partnerSecretKey } = credentials;
  const merchantSecretKeys = { NGN: 'sk_merchant_ngn1', GHS: 'sk_merchant_ghs1' };
  const several = { partnerPublicKey, partnerSecretKey, merchantSecretKeys };

  it("sign with the one named like the order's currency when none is named, not with the default one", async () => {
    const server = await startServer({});
    const both = { ...credentials, merchantSecretKeys };
    await new ExchangeClient({ deployment: deploymentAt(server.url), credentials: both }).createOrder(order);
    const key = `sk_merchant_ngn1${partnerSecretKey}`;
    expect(verifyBody(bytesOf(server), { key }).value).toMatchObject(order);
  });

  it.each<[string, object, string | undefined]>([
    [
      'none is named, or named like the currency',
      { merchantSecretKeys: { KES: 'sk_merchant_kes1', GHS: 'sk_merchant_ghs1' } },
      undefined,
    ],
    ['another is named', several, 'KES'],
    ['a member of every object is named', several, 'constructor'],
    ['there is none', { partnerPublicKey, partnerSecretKey }, undefined],
  ])('are a configuration error before any request when %s', async (_, given, merchant) => {
    const server = await startServer({});
    const client = new ExchangeClient({
      deployment: deploymentAt(server.url),
      credentials: { ...several, merchantSecretKeys: undefined, ...given },
    });
    expect(await rejected(client.createOrder(order, { merchant }))).toMatchObject({
      name: 'ConfigurationError',
      code: 'invalid_credentials',
    });
    expect(server.requests).toHaveLength(0);
  });
});

it('an order without credentials is a configuration error before any request', async () => {
  const server = await startServer({});
  const client = new ExchangeClient({ deployment: deploymentAt(server.url) });
  const error = await rejected(client.createOrder(order));
  expect(error).toMatchObject({ name: 'ConfigurationError', code: 'not_configured' });
  expect(String(error)).toContain('readEnvironment() returns them where PARTNER_PUBLIC_KEY is set');
  expect(server.requests).toHaveLength(0);
});

function clientWith<Order>(
  server: LocalServer,
  orderSchema: StandardSchema<Order, unknown>,
): ExchangeClient<Order> {
  const deployment = defineDeployment({
    onboardingBaseUrl: server.url,
    stagingUrl: server.url,
    messengerBaseUrl: server.url,
    orderSchema,
  });
  return new ExchangeClient({ deployment, credentials });
}

function bytesOf(server: LocalServer): Buffer {
  return server.requests[0]?.body ?? Buffer.alloc(0);
}
