import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { startServer } from '../support/local-server.ts';
import { cautious, credentials, deploymentAt, harmless, message, order, partner } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const published: Record<string, string> = {
  onboard: '/api/v1/no-auth/PartnerP2P/OnboardPartner',
  whitelistIp: '/test-ip-connection/',
  regenerateKeys: '/api/v1/no-auth/PartnerP2P/OnboardPartner./',
  createOrder: '/api/v1/no-auth/PartnerP2P/CreateOrder/',
  generateApiKey: '/api-keys/generate',
  checkNumber: '/numbers/check?api_key=API-X-51e0c2&to_phone=%2B2348012345678',
  sendMessage: '/send-messages/send',
};

describe.each([...cautious, ...harmless])('the path of %s on the wire', (name, run) => {
  it.each([
    ['a bare base URL', '', ''],
    ['a trailing slash', '/', ''],
    ['several trailing slashes', '///', ''],
    ['a prefix', '/gate/way', '/gate/way'],
    ['a prefix and a trailing slash', '/gate/way/', '/gate/way'],
    ['an escaped prefix', '/a%20b/', '/a%20b'],
  ])('is as published with %s', async (_, suffix, prefix) => {
    const server = await startServer({});
    await run(server.url + suffix);
    expect(server.requests[0]?.url).toBe(prefix + published[name]);
  });
});

it('base URLs may be URL objects', async () => {
  const server = await startServer({});
  const deployment = deploymentAt(server.url, { onboardingBaseUrl: new URL('/gate/', server.url) });
  await new ExchangeClient({ deployment }).onboard(partner);
  expect(server.requests[0]?.url).toBe(`/gate${published.onboard}`);
});

describe('each operation goes to its own service', () => {
  it.each(['onboard', 'regenerateKeys', 'createOrder', 'whitelistIp'] as const)('%s', async (name) => {
    const exchange = await startServer({});
    const staging = await startServer({});
    const messenger = await startServer({});
    const client = new ExchangeClient({
      deployment: deploymentAt(exchange.url, { stagingUrl: staging.url, messengerBaseUrl: messenger.url }),
      credentials,
    });
    if (name === 'createOrder') await client.createOrder(order);
    else if (name === 'whitelistIp') await client.whitelistIp();
    else await client[name](partner);
    const counts = [exchange, staging, messenger].map((server) => server.requests.length);
    expect(counts).toEqual(name === 'whitelistIp' ? [0, 1, 0] : [1, 0, 0]);
  });

  it('sendMessage', async () => {
    const exchange = await startServer({});
    const messenger = await startServer({});
    const deployment = deploymentAt(exchange.url, { messengerBaseUrl: messenger.url });
    await new MessengerClient({ deployment, apiKey: 'API-X-1' }).sendMessage(message);
    expect([exchange.requests.length, messenger.requests.length]).toEqual([0, 1]);
  });
});

describe('a path of the deployment', () => {
  it('goes over the wire as given', async () => {
    const server = await startServer({});
    const deployment = deploymentAt(`${server.url}/v2/`, {
      paths: { regenerateKeys: '/api/v1/no-auth/PartnerP2P/ResetPartnerKeys/' },
    });
    await new ExchangeClient({ deployment, credentials }).regenerateKeys(partner);
    expect(server.requests[0]?.url).toBe('/v2/api/v1/no-auth/PartnerP2P/ResetPartnerKeys/');
  });
});
