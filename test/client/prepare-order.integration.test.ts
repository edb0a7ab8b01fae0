import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { startServer } from '../support/local-server.ts';
import { rejected } from '../support/refusal.ts';
import { credentials, deploymentAt, exchangeAt, order } from './clients.ts';

const orderKey = credentials.merchantSecretKey + credentials.partnerSecretKey;

describe('assertReady', () => {
  it('throws what createOrder would throw for want of an address, credentials or a merchant secret', async () => {
    await exchangeAt('http://127.0.0.1:9').assertReady();
    const deployment = deploymentAt('http://127.0.0.1:9');
    const { merchantSecretKey: _, ...withoutMerchant } = credentials;
    const ring = createKeyRing({
      load: () => {
        throw new Error('down');
      },
      onError: () => {},
    });
    for (const [options, code] of [
      [{ deployment: defineDeployment({}), credentials }, 'not_configured'],
      [{ deployment }, 'not_configured'],
      [{ deployment, credentials: withoutMerchant }, 'invalid_credentials'],
      [{ deployment, credentials: ring }, 'keys_unavailable'],
    ] as const) {
      const exchange = new ExchangeClient(options);
      expect(await rejected(exchange.assertReady())).toMatchObject({ code });
      expect(await rejected(exchange.createOrder(order))).toMatchObject({ code });
    }
  });
});

describe('prepareOrder', () => {
  it('sends nothing until send, and then what createOrder would send', async () => {
    const server = await startServer({});
    const exchange = exchangeAt(server.url);
    const prepared = await exchange.prepareOrder(order);
    expect(server.requests).toHaveLength(0);
    expect(await prepared.send()).toMatchObject({ status: 200 });
    await exchange.createOrder(order);
    const [one, other] = server.requests;
    expect(one?.body).toEqual(other?.body);
    expect(one?.headers).toEqual(other?.headers);
    expect(verifyBody(one?.body ?? '', { key: orderKey }).value).toMatchObject(order);
  });

  it('has the payload as the schema made it, under the published names, and the partner ID', async () => {
    const orderSchema = reportedBuyOrder.extend({ fee: z.string().default('0') });
    const deployment = deploymentAt('http://127.0.0.1:9', {
      orderSchema,
      wireNames: { platform_merchant_id: 'acme_merchant' },
    });
    const exchange = new ExchangeClient({ deployment, credentials: { ...credentials, partnerId: 'P-1' } });
    const prepared = await exchange.prepareOrder({ ...order, platform_merchant_id: 'm-1' });
    expect(prepared.payload).toEqual({ ...order, platform_merchant_id: 'm-1', fee: '0' });
    expect(prepared.partnerId).toBe('P-1');
  });

  it('refuses orders, merchants and options as createOrder does', async () => {
    const exchange = exchangeAt('http://127.0.0.1:9');
    const wrong = { ...order, fiat_amount: '-1' };
    expect(await rejected(exchange.prepareOrder(wrong))).toMatchObject({ code: 'invalid_input' });
    expect(await rejected(exchange.prepareOrder(order, { merchant: 'no' }))).toMatchObject({
      code: 'invalid_credentials',
    });
    // @ts-expect-error
    expect(await rejected(exchange.prepareOrder(order, { mercant: 'no' }))).toMatchObject({
      code: 'invalid_option',
    });
    expect(await rejected((await exchange.prepareOrder(order)).send({ timeoutMs: -1 }))).toMatchObject({
      code: 'invalid_option',
    });
  });
});
