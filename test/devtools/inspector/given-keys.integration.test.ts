import { expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { MessengerClient } from '../../../src/client/messenger-client.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { startStory } from './story.ts';

const masterKey = 'master_of_the_caller';
const credentials = {
  partnerPublicKey: 'pk_partner_of_the_caller',
  partnerSecretKey: 'sk_partner_of_the_caller',
  merchantSecretKey: 'sk_merchant_of_the_caller',
  merchantSecretKeys: { NGN: 'sk_merchant_naira_of_the_caller' },
  partnerCode: 'real',
};

/** A sandbox with keys of the caller, that were used in every way. */
async function startUsed() {
  const sandbox = createSandbox({ partners: [{ credentials }], masterKey, merchants: ['NGN'] });
  const server = await sandbox.listen();
  onTestFinished(async () => {
    await server.close();
    await sandbox.close();
  });
  const { deployment, url, token } = server;
  const exchange = new ExchangeClient({ deployment, credentials });
  await exchange.whitelistIp();
  await exchange.createOrder({
    partner_order_id: 'A-1',
    fiat_amount: '15000.50',
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: 'http://127.0.0.1:1/orders',
  });
  await new MessengerClient({ deployment, masterKey }).generateApiKey({ messenger_device_no: '1001' });
  const secret = credentials.merchantSecretKey + credentials.partnerSecretKey;
  await fetch(`${url}/onboarding/api/v1/no-auth/PartnerP2P/SignRequestSha512/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ a: 1, secret }),
  });
  await sandbox.advance('A-1', 'fiat_received');
  const authorization = `Bearer ${token}`;
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${url}/_sandbox/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.text();
  };
  return { sandbox, url, call };
}

const paths = ['state', 'orders', 'trace'];

it('the control API shows no key that the caller gave', async () => {
  const { sandbox, call } = await startUsed();
  const exchanges = sandbox.trace.entries.map(({ id }) => `trace/${id}`);
  for (const path of [...paths, ...exchanges]) {
    expect([path, await call(path)]).toEqual([path, expect.not.stringMatching(/of_the_caller/)]);
  }
  const signed = sandbox.trace.entries.find(({ operation }) => operation === 'createOrder');
  expect(JSON.parse(await call(`trace/${signed?.id}`))).toMatchObject({
    entries: [{ headers: { authorization: 'Bearer [redacted]' } }, {}],
    signature: { holds: true },
  });
});

it('the control API gives nothing that such keys have signed without the token, to this machine either', async () => {
  const { url } = await startUsed();
  for (const path of [...paths, 'trace/1'])
    expect([path, (await fetch(`${url}/_sandbox/${path}`)).status]).toEqual([path, 401]);
});

it('an order that the API creates is signed with the keys of the caller', async () => {
  const { sandbox, call } = await startUsed();
  const created = JSON.parse(await call('orders', { partner_callback_url: 'http://127.0.0.1:1/' }));
  expect(created).toMatchObject({ status: 200 });
  expect(sandbox.order(created.partner_order_id).state).toBe('created');
});

it('the variables hold the keys that the sandbox has drawn, and none that the caller gave', async () => {
  await using story = await startStory();
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey } = story.credentials;
  expect((await story.api('state')).body.variables).toMatchObject({
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: story.server.deployment.onboardingBaseUrl,
    PARTNER_PUBLIC_KEY: partnerPublicKey,
    PARTNER_SECRET_KEY: partnerSecretKey,
    MERCHANT_SECRET_KEY: merchantSecretKey,
    MESSENGER_MASTER_KEY: story.sandbox.masterKey,
  });
  const { call } = await startUsed();
  const { variables } = JSON.parse(await call('state'));
  expect(Object.keys(variables)).toEqual([
    'PARTNER_EXCHANGE_ONBOARDING_BASE_URL',
    'PARTNER_EXCHANGE_STAGING_URL',
    'PARTNER_EXCHANGE_MESSENGER_BASE_URL',
  ]);
});
