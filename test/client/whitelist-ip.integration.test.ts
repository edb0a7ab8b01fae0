import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { JsonValue } from '../../src/internal/json.ts';
import { startServer } from '../support/local-server.ts';
import { rejected } from '../support/refusal.ts';
import { credentials, deploymentAt, exchangeAt } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('whitelistIp', () => {
  it('posts to the published path of the staging URL', async () => {
    const staging = await startServer({});
    const onboarding = await startServer({});
    const deployment = deploymentAt(onboarding.url, { stagingUrl: staging.url });
    await new ExchangeClient({ deployment, credentials }).whitelistIp();
    expect(staging.requests).toMatchObject([{ method: 'POST', url: '/test-ip-connection/' }]);
    expect(onboarding.requests).toHaveLength(0);
  });

  it.each<[string, JsonValue | undefined]>([
    ['{}', undefined],
    ['{"host":"a","ports":[80,443]}', { host: 'a', ports: [80, 443] }],
    ['null', null],
  ])('posts %s for %j', async (text, data) => {
    const server = await startServer({});
    await exchangeAt(server.url).whitelistIp(data);
    expect(server.requests[0]?.body.toString()).toBe(text);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it('sends the public key where there is one', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).whitelistIp();
    expect(server.requests[0]?.headers.authorization).toBe('Bearer pk_partner_4f1d20');
  });

  it('needs no credentials', async () => {
    const server = await startServer({});
    await new ExchangeClient({ deployment: deploymentAt(server.url) }).whitelistIp();
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each<[string, unknown]>([
    ['a date', new Date(0)],
    ['a circle', circle()],
  ])('refuses %s, and makes no request', async (_, data) => {
    const server = await startServer({});
    // What a JavaScript caller may pass.
    const call = exchangeAt(server.url).whitelistIp(data as JsonValue);
    expect(await rejected(call)).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
    expect(server.requests).toHaveLength(0);
  });
});

function circle(): unknown {
  const round: Record<string, unknown> = {};
  round.self = round;
  return round;
}
