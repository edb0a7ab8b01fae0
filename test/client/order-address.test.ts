import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { outcomeOf } from '../../src/errors/errors.ts';
import { mixedCase, tether, tronContracts } from '../deployment/addresses/vectors.ts';
import { bases } from '../deployment/bases.ts';
import { processWarnings } from '../support/process-warnings.ts';
import { rejected } from '../support/refusal.ts';
import { credentials, order } from './clients.ts';

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
      return Response.json({ ok: true });
    },
  });
  return { exchange, sent };
}

describe('an order whose address is refused', () => {
  it.each([
    ['a typing error', `${address.slice(0, -1)}a`, /has a typing error: its checksum does not fit/],
    ['an address of another chain', evmAddress, /is an address of another chain: its form is evm/],
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

  it.each<[string, string, { chain?: string; addressForms?: false }]>([
    ['a private key on a chain without a form', secret, { chain: 'usdt-erc20' }],
    ['a mnemonic on a chain without a form', Array(12).fill('abandon').join('-'), { chain: 'usdt-erc20' }],
    [
      'a mnemonic on a chain that is not checked',
      Array(12).fill('abandon').join(' '),
      { addressForms: false },
    ],
    ['a key in quotes on a chain that is not checked', `"${secret}"`, { addressForms: false }],
  ] as const)(
    'is not sent, with a reason either: %s',
    async (_, text, { chain = 'usdt-trc20', ...options }) => {
      const { exchange, sent } = exchangeWith({ ...bases, ...options });
      const acceptAddress = 'The buyer confirmed it';
      const refused = exchange.createOrder(
        { ...order, chain, buyer_crypto_address: text },
        { acceptAddress },
      );
      const error = await rejected(refused);
      expect(error).toMatchObject({ code: 'address_refused', outcome: 'not-sent' });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(text);
      expect(sent).toEqual([]);
    },
  );

  it('is not sent either if it is a secret in an order without a chain', async () => {
    const orderSchema = z.looseObject({ buyer_crypto_address: z.string() });
    const deployment = defineDeployment({ ...bases, orderSchema });
    const fetch = async () => Response.json({});
    const exchange = new ExchangeClient({ deployment, credentials, fetch });
    const leaked = exchange.createOrder({ buyer_crypto_address: secret });
    expect(await rejected(leaked)).toMatchObject({ code: 'address_refused' });
  });

  it('passes where addresses are not checked if it is 64 digits, which are an address on some chains', async () => {
    const { exchange, sent } = exchangeWith({ ...bases, addressForms: false });
    await exchange.createOrder({ ...order, chain: 'usdc-sui', buyer_crypto_address: `0x${secret}` });
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

  it('is one warning for each chain whose network nobody knows', async () => {
    const warnings = processWarnings();
    const { exchange, sent } = exchangeWith(bases);
    for (const chain of ['usdt-erc20', 'usdt-erc20', 'usdt-ton', 'USDC_TRC20', 'a\nb', secret])
      await exchange.createOrder({ ...order, chain, buyer_crypto_address: address });
    expect(sent).toHaveLength(6);
    expect(warnings()).toEqual([
      'Orders on the chain "usdt-erc20" go out with unchecked addresses, since no form of its network is known. Name it in addressForms of defineDeployment.',
      expect.stringContaining('"usdt-ton"'),
      expect.stringContaining('"a\\nb"'),
      expect.stringContaining('chain with a long name'),
    ]);
  });

  it('is sent if the schema of the deployment has other members', async () => {
    const deployment = defineDeployment({ ...bases, orderSchema: z.looseObject({ to: z.string() }) });
    const fetch = async () => Response.json({ ok: true });
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

it.each([[true], [{ a: 'bitcoin' }], [null]])('addressForms of %j are refused', (addressForms) => {
  const options = { ...bases, addressForms };
  // @ts-expect-error: the option is wrong on purpose
  expect(() => defineDeployment(options)).toThrow(/addressForms/);
});
