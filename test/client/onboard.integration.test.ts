import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { startServer } from '../support/local-server.ts';
import { rejected } from '../support/refusal.ts';
import { credentials, deploymentAt, exchangeAt, partner } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('onboard', () => {
  it('posts partner_code and email as JSON to the published path', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).onboard(partner);
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/api/v1/no-auth/PartnerP2P/OnboardPartner',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
    expect(request?.body.toString()).toBe('{"partner_code":"acme","email":"ops@acme.example"}');
  });

  it('sends no Authorization header, even with credentials', async () => {
    const server = await startServer({});
    const withId = { ...credentials, partnerId: 'P-77' };
    await new ExchangeClient({ deployment: deploymentAt(server.url), credentials: withId }).onboard(partner);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(server.requests[0]?.headers).not.toHaveProperty('x-partner-id');
  });

  it('sends further members as given', async () => {
    const server = await startServer({});
    const further = { ...partner, country: 'NG' };
    await exchangeAt(server.url).onboard(further);
    expect(posted(server)).toEqual(further);
  });
});

describe.each(['onboard', 'regenerateKeys'] as const)('%s', (operation) => {
  it.each<[string, unknown]>([
    ['partner_code', { email: 'ops@acme.example' }],
    ['email', { partner_code: 'acme' }],
    ['email', { partner_code: 'acme', email: 'ops' }],
    ['email', { partner_code: 'acme', email: 'ops@acme.example\r\nbcc: x@y' }],
    ['email', { partner_code: 'acme', email: `${'o'.repeat(330)}@acme.example` }],
    ['limits.daily', { ...partner, limits: { daily: Number.NaN } }],
  ])('names %s when it does not fit %o, and makes no request', async (member, input) => {
    const server = await startServer({});
    // What a JavaScript caller may pass.
    const error = await rejected(exchangeAt(server.url)[operation](input as typeof partner));
    expect(error).toMatchObject({ name: 'ValidationError', code: 'invalid_input' });
    expect(String(error)).toContain(`${operation}: ${member}: `);
    expect(server.requests).toHaveLength(0);
  });
});

function posted(server: { requests: readonly { body: Buffer }[] }): unknown {
  return JSON.parse(server.requests[0]?.body.toString() ?? '');
}
