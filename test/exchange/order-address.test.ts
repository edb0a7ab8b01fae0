import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { outcomeOf } from '../../src/errors/errors.ts';
import { ExchangeClient } from '../../src/exchange/exchange-client.ts';
import { mixedCase, tether, tronContracts } from '../addresses/vectors.ts';
import { bases } from '../deployment/bases.ts';
import { credentials, order } from '../http/clients.ts';
import { rejected } from '../support/refusal.ts';

const example = order.buyer_crypto_address;
const [address = ''] = tronContracts;
const [evmAddress = ''] = mixedCase;
const secret = 'ab'.repeat(32);

function exchangeWith(options: DeploymentOptions) {
  const sent: string[] = [];
  const exchange = new ExchangeClient({
    deployment: defineDeployment(options),
    credentials,
    fetch: async (request) => {
      sent.push(await new Request(request).text());
      return Response.json({});
    },
  });
  return { exchange, sent };
}

describe('an order whose address is refused', () => {
  it.each([
    ['a typing error', `${address.slice(0, -1)}a`, /has a typing error: its checksum does not fit/],
    ['an address of another chain', evmAddress, /is an address of another chain: its form is evm/],
    ['a contract of a token', tether, /is the contract of a token/],
    ['white space', `${address} `, /holds white space/],
    ['a secret', secret, /looks like a private key/],
  ])('is not sent, and its error does not repeat it: %s', async (_, buyer_crypto_address, message) => {
    const { exchange, sent } = exchangeWith(bases);
    const error = await rejected(exchange.createOrder({ ...order, buyer_crypto_address }));
    expect(error).toMatchObject({
      code: 'address_refused',
      outcome: 'not-sent',
      assumptions: ['address-form'],
      issues: [{ path: ['buyer_crypto_address'], message: expect.stringMatching(message) }],
    });
    expect(outcomeOf(error)).toBe('not-sent');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(buyer_crypto_address);
    expect(sent).toEqual([]);
  });

  it('passes with a reason, unless it is a secret', async () => {
    const { exchange, sent } = exchangeWith(bases);
    const acceptAddress = 'The buyer confirmed it';
    await exchange.createOrder({ ...order, buyer_crypto_address: tether }, { acceptAddress });
    expect(sent).toHaveLength(1);
    const leaked = exchange.createOrder({ ...order, buyer_crypto_address: secret }, { acceptAddress });
    expect(await rejected(leaked)).toMatchObject({ code: 'address_refused' });
    expect(await rejected(exchange.createOrder(order, { acceptAddress: '' }))).toMatchObject({
      code: 'invalid_option',
    });
    expect(sent).toHaveLength(1);
  });

  it('passes where the deployment does not check addresses, or gives the chain another form', async () => {
    for (const addressForms of [false, { 'usdt-trc20': 'evm' }] as const) {
      const { exchange, sent } = exchangeWith({ ...bases, addressForms });
      await exchange.createOrder({ ...order, buyer_crypto_address: evmAddress });
      expect(sent).toHaveLength(1);
    }
  });
});

describe('an order whose address is unchecked', () => {
  it.each([
    ['usdc-matic', evmAddress.toLowerCase()],
    ['eusd-mob', 'alice'],
    ['btc', 'anything'],
  ])('is sent unchanged: %s', async (chain, buyer_crypto_address) => {
    const { exchange, sent } = exchangeWith(bases);
    await exchange.createOrder({ ...order, chain, buyer_crypto_address });
    expect(JSON.parse(sent[0] ?? '')).toMatchObject({ chain, buyer_crypto_address });
  });

  it('is sent if the schema of the deployment has other members', async () => {
    const deployment = defineDeployment({ ...bases, orderSchema: z.looseObject({ to: z.string() }) });
    const fetch = async () => Response.json({});
    const { status } = await new ExchangeClient({ deployment, credentials, fetch }).createOrder({ to: 'x' });
    expect(status).toBe(200);
  });
});

describe('an example address', () => {
  it.each(['https://exchange.acme.com', 'https://10.0.0.7', 'https://localhost.acme.com'])(
    'is refused at %s',
    async (onboardingBaseUrl) => {
      const { exchange, sent } = exchangeWith({ onboardingBaseUrl, addressForms: false });
      for (const one of [example, '0xb7C978B070509bFEefa71fC3C984775072F837DF']) {
        const error = await rejected(exchange.createOrder({ ...order, buyer_crypto_address: one }));
        expect(error).toMatchObject({ code: 'address_refused', message: expect.stringContaining('example') });
      }
      await exchange.createOrder({ ...order, buyer_crypto_address: address });
      expect(sent).toHaveLength(1);
    },
  );

  it.each([
    'http://127.0.0.1:9',
    'http://localhost:9',
    'https://sandbox.localhost',
    'https://exchange.example',
  ])('is fine at %s, where no real service can be', async (onboardingBaseUrl) => {
    const { exchange, sent } = exchangeWith({ onboardingBaseUrl });
    await exchange.createOrder(order);
    expect(sent).toHaveLength(1);
  });
});

describe('addressForms of defineDeployment', () => {
  it('adds to the assumed forms, or changes them', () => {
    expect(defineDeployment({ ...bases, addressForms: { 'usdt-pol': 'evm' } }).addressForms).toEqual({
      'usdt-trc20': 'tron',
      'usdc-matic': 'evm',
      'eusd-mob': 'mobilecoin',
      'usdt-pol': 'evm',
    });
    expect(defineDeployment({ ...bases, addressForms: false }).addressForms).toBe(false);
  });

  it.each([[true], [{ a: 'bitcoin' }], [null]])('refuses %j', (addressForms) => {
    const options = { ...bases, addressForms };
    // @ts-expect-error: the option is wrong on purpose
    expect(() => defineDeployment(options)).toThrow(/addressForms/);
  });
});
