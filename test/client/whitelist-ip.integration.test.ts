import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { startServer } from '../support/local-server.ts';
import { credentials, deploymentAt } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('whitelistIp', () => {
  it('posts {} to the published path of the staging URL, with the public key', async () => {
    const staging = await startServer({});
    const onboarding = await startServer({});
    const deployment = deploymentAt(onboarding.url, { stagingUrl: staging.url });
    await new ExchangeClient({ deployment, credentials }).whitelistIp();
    expect(staging.requests).toMatchObject([
      {
        method: 'POST',
        url: '/test-ip-connection/',
        headers: { 'content-type': 'application/json', authorization: 'Bearer pk_partner_4f1d20' },
      },
    ]);
    expect(String(staging.requests[0]?.body)).toBe('{}');
    expect(onboarding.requests).toHaveLength(0);
  });

  it('needs no credentials', async () => {
    const server = await startServer({});
    await new ExchangeClient({ deployment: deploymentAt(server.url) }).whitelistIp();
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});
